// Editor with its panel, for a new policy and for the next revision of a policy.
import { useRef } from 'preact/hooks'
import { SAVE_KEYS } from '../shell/shortcuts.ts'
import { lazy } from '../ui/lazy.tsx'
import { Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { CheckPanel } from './check-panel.tsx'
import type { EditorHandle } from './editor/editor.tsx'
import { useWords } from './editor/use-words.ts'
import type { Check } from './use-check.ts'

const Editor = lazy(async () => (await import('./editor/editor.tsx')).Editor)

interface PolicyEditorProps {
  readonly value: string
  /** See EditorProps. */
  readonly generation: number
  readonly onValue: (value: string) => void
  readonly check: Check
  readonly readOnly: boolean
  readonly onSave: () => void
}

export const PolicyEditor = ({ value, generation, onValue, check, readOnly, onSave }: PolicyEditorProps) => {
  const words = useWords()
  const handle = useRef<EditorHandle | null>(null)
  return (
    <div class="policy-editor">
      <div class="card editor-card">
        {words.value === null ? (
          words.error === null ? (
            <Loading />
          ) : (
            <Problem error={words.error} retry={words.reload} />
          )
        ) : (
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
        )}
        <p class="editor-foot">
          Ctrl Space suggests facts and keys, F8 goes to the next problem, {SAVE_KEYS} saves. Tab leaves the editor.
        </p>
      </div>
      <CheckPanel check={check} onPlace={(line, column) => handle.current?.goTo(line, column)} />
    </div>
  )
}
