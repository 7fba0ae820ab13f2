import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import type { SessionDetail } from '../api/types.ts'
import type { Query } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { ageWord } from './age.ts'
import { Assignment } from './assignment.tsx'
import { Decision, type Draft } from './decision.tsx'
import { inOrder, LEVEL_WORDS } from './labels.ts'
import { useOwnId, useReviewers } from './members.ts'
import { LANGUAGE_WORDS, languageOf } from './reasons.ts'
import type { EvidenceList } from './use-evidence.ts'

const partsOf = (list: EvidenceList | null): readonly string[] =>
  inOrder([
    ...(list?.fields ?? []),
    ...(list?.documents ?? []).map(({ kind }) => kind),
    ...(list?.missing ?? []),
    'wallets',
  ])

interface SideProps {
  readonly session: SessionDetail
  readonly list: EvidenceList | null
  readonly openHits: number
  readonly decide: Parameters<typeof Decision>[0]['action']
  readonly query: Query<SessionDetail>
  readonly draft: Draft
  readonly onDraft: (change: (before: Draft) => Draft) => void
  readonly onMoved: () => void
  readonly children: ComponentChildren
}

export const Side = ({ session, list, openHits, decide, query, draft, onDraft, onMoved, children }: SideProps) => {
  const { path } = useWorkplace()
  const ownId = useOwnId()
  const { nameOf } = useReviewers()
  const [anyway, setAnyway] = useState(false)
  const { status, assigned_to: assigned } = session
  const open = status !== 'completed' && status !== 'rejected'
  const elsewhere = assigned !== null && assigned !== ownId
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['ID', <Copyable key="id" text={session.id} label="session ID" />],
    ['Level', LEVEL_WORDS[session.level]],
    ...(session.language === null ? [] : [['Language', LANGUAGE_WORDS[languageOf(session.language)]] as const]),
    ...(session.retry_count > 0 ? [['Sent back', counted(session.retry_count, 'time', 'times')] as const] : []),
    ['Created', <Time key="made" at={session.created_at} />],
    ...(session.submitted_at === null ? [] : [['Submitted', <Time key="in" at={session.submitted_at} />] as const]),
    ...(session.completed_at === null ? [] : [['Completed', <Time key="done" at={session.completed_at} />] as const]),
    ...(session.user_id === null
      ? []
      : [
          [
            'User ID',
            <span key="user">
              <Copyable text={session.user_id} label="user ID" short />{' '}
              <a href={path(`/reviews/people/${encodeURIComponent(session.user_id)}`)}>View all sessions</a>
            </span>,
          ] as const,
        ]),
    ['Decision by', session.provider === 'manual' ? 'Reviewer' : session.provider],
  ]
  return (
    <>
      {open && (
        <Card>
          <Assignment session={session} onChanged={query.set} onMoved={onMoved} />
          {elsewhere ? (
            <Notice title={`Assigned to ${nameOf(assigned)}`}>
              <p>Only one reviewer decides a session. To decide this one yourself, take it over.</p>
            </Notice>
          ) : status === 'submitted' || anyway ? (
            <>
              {status === 'submitted' && session.submitted_at !== null && (
                <p class="soft">Waiting for {ageWord(session.submitted_at, Date.now())}.</p>
              )}
              <Decision
                session={session}
                draft={draft}
                onDraft={onDraft}
                parts={partsOf(list)}
                openHits={openHits}
                action={decide}
              />
            </>
          ) : (
            <>
              <p class="soft">
                The person has not {status === 'retry' ? 'resubmitted' : 'submitted'} this session yet.
              </p>
              <div>
                <Button small onClick={() => setAnyway(true)}>
                  Decide anyway
                </Button>
              </div>
            </>
          )}
        </Card>
      )}
      {children}
      <Card title="Session">
        <Facts items={facts} />
        {session.public_comment !== null && (
          <p class="comment">
            <span class="faint">Message to the person</span> {session.public_comment}
          </p>
        )}
      </Card>
    </>
  )
}
