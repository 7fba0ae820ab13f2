// Decision on a submitted session: selected with one key, and sent only after a confirmation.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { BodyOf } from '../api/client.ts'
import type { SessionDetail } from '../api/types.ts'
import type { Action } from '../data/use-action.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { Button } from '../ui/button.tsx'
import { CheckField, SelectField, TextArea } from '../ui/field.tsx'
import { Key } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { inOrder, partWord } from './labels.ts'
import { LANGUAGE_WORDS, languageOf, REASON_NEEDED, reasonsFor } from './reasons.ts'

type DecideBody = BodyOf<'POST /organizations/{organization}/sessions/{session}/decide'>
export type Verdict = DecideBody['status']
export type Decided = Omit<DecideBody, 'sequence'>

/** Unsent input, kept while the session is read again or taken over. */
export interface Draft {
  readonly publicComment: string
  readonly privateComment: string
  readonly ticked: readonly string[]
}
export const EMPTY_DRAFT: Draft = { publicComment: '', privateComment: '', ticked: [] }

interface DecisionProps {
  readonly session: SessionDetail
  readonly draft: Draft
  readonly onDraft: (change: (before: Draft) => Draft) => void
  readonly parts: readonly string[]
  /** A session with open hits can't be completed. */
  readonly openHits: number
  readonly action: Action<[Decided]>
}

const COMMENT_MAX = 1_000

const WORDS: Readonly<Record<Verdict, { readonly confirm: string; readonly text: string }>> = {
  completed: { confirm: 'Approve now', text: 'The wallets are verified immediately.' },
  retry: { confirm: 'Send back now', text: 'The person can change the selected parts and submit the session again.' },
  rejected: { confirm: 'Reject now', text: 'This is final: the session can’t be reopened.' },
}

/** Returns the comment as one line, as the API requires; null if it is empty. */
const commentOf = (text: string): string | null => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line === '' ? null : line
}

const added = (comment: string, text: string): string =>
  comment.includes(text) ? comment : [comment.trim(), text].filter(Boolean).join(' ')

export const Decision = ({ session, draft, onDraft, parts, openHits, action }: DecisionProps) => {
  const [chosen, setVerdict] = useState<Verdict | null>(null)
  const mayApprove = openHits === 0
  const verdict = chosen === 'completed' && !mayApprove ? null : chosen
  const [unexplained, setUnexplained] = useState(false)
  const [overrides, setOverrides] = useState(false)
  const isConfirmed = session.hits.confirmed > 0
  const needsOverride = verdict === 'completed' && (session.missing.length > 0 || isConfirmed)
  const { publicComment, privateComment, ticked } = draft
  const form = useRef<HTMLFormElement>(null)

  const choose = (next: Verdict | null): void => {
    if (next === 'completed' && !mayApprove) return
    setVerdict(next)
    setUnexplained(false)
    setOverrides(false)
    action.clear()
  }
  // Focuses the next input before the browser paints, so that quick key presses reach it.
  useLayoutEffect(() => {
    const place = verdict === 'completed' ? '[type=checkbox], [type=submit]' : 'select, [type=submit]'
    if (verdict !== null) form.current?.querySelector<HTMLElement>(place)?.focus()
  }, [verdict])
  useShortcut('a', 'Approve', () => choose('completed'))
  useShortcut('r', 'Send back', () => choose('retry'))
  useShortcut('x', 'Reject', () => choose('rejected'))

  const tick = (part: string, on: boolean): void =>
    onDraft((before) => {
      const others = before.ticked.filter((one) => one !== part)
      return { ...before, ticked: on ? [...others, part] : others }
    })
  const offered = verdict === 'retry' || verdict === 'rejected' ? reasonsFor(verdict, session.type, parts) : []
  const language = languageOf(session.language)
  const sent = ticked.filter((part) => parts.includes(part))
  const tooLong = [publicComment, privateComment].some((text) => (commentOf(text) ?? '').length > COMMENT_MAX)
  const submit = (event: Event): void => {
    event.preventDefault()
    if (verdict === null || tooLong) return
    const isSaid = commentOf(publicComment) !== null || commentOf(privateComment) !== null
    const lacks = (verdict === 'rejected' && !isSaid) || (needsOverride && !overrides)
    setUnexplained(lacks)
    if (lacks) return
    action.run({
      status: verdict,
      private_comment: commentOf(privateComment),
      // A comment that nobody will see would mislead its author.
      ...(verdict === 'completed' ? {} : { public_comment: commentOf(publicComment) }),
      ...(verdict === 'retry' && sent.length > 0 ? { corrections: [...sent] } : {}),
      ...(needsOverride ? { override: true } : {}),
    })
  }

  return (
    <div class="decision">
      <fieldset class="verdicts" aria-label="Decision">
        <VerdictButton
          verdict="completed"
          label="Approve"
          keys="a"
          chosen={verdict}
          onChoose={choose}
          disabled={!mayApprove}
        />
        <VerdictButton verdict="retry" label="Send back" keys="r" chosen={verdict} onChoose={choose} />
        <VerdictButton verdict="rejected" label="Reject" keys="x" chosen={verdict} onChoose={choose} />
      </fieldset>
      {!mayApprove && <p class="soft">Before you approve, clear or confirm each hit.</p>}
      {verdict !== null && (
        <form
          ref={form}
          class="form"
          noValidate
          onSubmit={submit}
          onKeyDown={(event) => {
            if (event.key === 'Escape') choose(null)
            else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
          }}
        >
          {verdict !== 'completed' && (
            <SelectField
              label="Reason"
              hint="Added to the message below, where you can edit it."
              value=""
              onValue={(label) => {
                const reason = offered.find((one) => one.label === label)
                if (reason === undefined) return
                onDraft((before) => ({ ...before, publicComment: added(before.publicComment, reason.texts[language]) }))
                for (const part of reason.parts) if (verdict === 'retry') tick(part, true)
              }}
              choices={[{ value: '', label: 'Choose…' }, ...offered.map(({ label }) => ({ value: label, label }))]}
            />
          )}
          {verdict === 'retry' && (
            <fieldset class="parts">
              <legend>Parts to redo</legend>
              {parts.map((part) => (
                <CheckField
                  key={part}
                  label={partWord(part)}
                  checked={ticked.includes(part)}
                  onChecked={(on) => tick(part, on)}
                />
              ))}
              {sent.length === 0 && <p class="field-hint">If you select nothing, the person can change everything.</p>}
            </fieldset>
          )}
          {verdict !== 'completed' && (
            <TextArea
              label="Message to the person"
              optional={verdict === 'retry'}
              hint={
                session.language === null
                  ? undefined
                  : `The person’s verification page is in ${LANGUAGE_WORDS[language]}.`
              }
              rows={4}
              value={publicComment}
              onValue={(text) => onDraft((before) => ({ ...before, publicComment: text }))}
              error={
                (commentOf(publicComment) ?? '').length > COMMENT_MAX
                  ? 'At most 1,000 characters.'
                  : unexplained && commentOf(privateComment) === null && commentOf(publicComment) === null
                    ? REASON_NEEDED
                    : undefined
              }
            />
          )}
          <TextArea
            label="Internal note"
            optional
            rows={2}
            value={privateComment}
            onValue={(text) => onDraft((before) => ({ ...before, privateComment: text }))}
            error={(commentOf(privateComment) ?? '').length > COMMENT_MAX ? 'At most 1,000 characters.' : undefined}
          />
          <Problem error={action.failure} />
          {verdict === 'rejected' ? (
            <Notice tone="warn">
              <p>{WORDS.rejected.text}</p>
            </Notice>
          ) : (
            (verdict !== 'completed' || session.wallets.length > 0) && <p class="soft">{WORDS[verdict].text}</p>
          )}
          {needsOverride && (
            <Notice
              tone="warn"
              title={[
                ...(isConfirmed ? ['A hit is confirmed'] : []),
                ...(session.missing.length > 0
                  ? [`Missing: ${inOrder(session.missing).map(partWord).join(', ')}`]
                  : []),
              ].join('. ')}
            >
              {session.wallets.length === 0 && <p>No wallet is connected, so approval verifies no wallet.</p>}
              <CheckField
                label="Approve anyway"
                hint="Recorded in the history and the audit log."
                checked={overrides}
                onChecked={setOverrides}
              />
              {unexplained && !overrides && (
                <p class="field-error">Select this to approve, or send the session back.</p>
              )}
            </Notice>
          )}
          <div class="form-actions">
            <Button kind={verdict === 'rejected' ? 'danger' : 'primary'} submit busy={action.busy}>
              {WORDS[verdict].confirm}
            </Button>
            <Button kind="quiet" onClick={() => choose(null)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
    </div>
  )
}

interface VerdictButtonProps {
  readonly verdict: Verdict
  readonly label: string
  readonly keys: string
  readonly chosen: Verdict | null
  readonly onChoose: (verdict: Verdict | null) => void
  readonly disabled?: boolean
}

const VerdictButton = ({ verdict, label, keys, chosen, onChoose, disabled = false }: VerdictButtonProps) => (
  <button
    type="button"
    class={`verdict verdict-${verdict}`}
    aria-pressed={chosen === verdict}
    disabled={disabled}
    onClick={() => onChoose(chosen === verdict ? null : verdict)}
  >
    {label} <Key>{keys}</Key>
  </button>
)
