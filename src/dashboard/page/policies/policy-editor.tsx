import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { type Query, useQuery } from '../data/use-query.ts'
import { SAVE_KEYS } from '../shell/shortcuts.ts'
import { lazy } from '../ui/lazy.tsx'
import { Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Segments } from '../ui/segments.tsx'
import { CheckPanel } from './check-panel.tsx'
import type { PolicyWords } from './editor/completion.ts'
import type { EditorHandle } from './editor/editor.tsx'
import type { Check } from './use-check.ts'

const Editor = lazy(async () => (await import('./editor/editor.tsx')).Editor)
const RuleBuilder = lazy(async () => (await import('./rule-builder.tsx')).RuleBuilder)

const VIEWS = [
  { value: 'text', label: 'Text' },
  { value: 'rules', label: 'Rules' },
]

interface PolicyEditorProps {
  readonly value: string
  readonly generation: number
  readonly onValue: (value: string) => void
  readonly check: Check
  readonly readOnly: boolean
  readonly onSave: () => void
}

// Terms of the policy language. All organizations have the same terms, so they are read once.
const useWords = (): Query<PolicyWords> =>
  useQuery(async (signal) => {
    const [facts, schema] = await Promise.all([
      call('GET /policy-language', { signal }),
      call('GET /policy-language/schema', { signal }),
    ])
    return { facts, schema }
  }, [])

export const PolicyEditor = ({ value, generation, onValue, check, readOnly, onSave }: PolicyEditorProps) => {
  const words = useWords()
  const handle = useRef<EditorHandle | null>(null)
  const [view, setView] = useState('text')
  /** Position at which the text view opens. */
  const place = useRef<readonly [line: number, column: number] | null>(null)
  const openText = (line: number, column: number): void => {
    if (view === 'text') handle.current?.goTo(line, column)
    else place.current = [line, column]
    setView('text')
  }
  useEffect(() => {
    if (view !== 'text' || place.current === null) return
    handle.current?.goTo(...place.current)
    place.current = null
  }, [view])
  return (
    <div class="policy-editor">
      <div class="editor-views">
        <Segments label="Document view" choices={VIEWS} value={view} onValue={setView} />
        {words.value === null ? (
          words.error === null ? (
            <Loading />
          ) : (
            <Problem error={words.error} retry={words.reload} />
          )
        ) : view === 'rules' ? (
          <RuleBuilder
            key={generation}
            source={value}
            facts={words.value.facts.facts}
            readOnly={readOnly}
            onSource={onValue}
            onText={(line) => openText(line, 1)}
          />
        ) : (
          <div class="card editor-card">
            <Editor
              label="Policy document"
              value={value}
              generation={generation}
              onValue={onValue}
              readOnly={readOnly}
              onSave={onSave}
              handle={handle}
              issues={check.issues}
              warnings={check.warnings}
              words={words.value}
            />
            <p class="editor-foot">
              Ctrl Space suggests facts and keys, F8 goes to the next problem, {SAVE_KEYS} saves. Tab leaves the editor.
            </p>
          </div>
        )}
      </div>
      <CheckPanel check={check} onPlace={openText} />
    </div>
  )
}
