// The editor of policy documents: CodeMirror in a shadow root of its own. There its styles are a sheet that scripts make,
// which the page's content security policy allows; in the document they would be a style element, which it does not.
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  type IndentContext,
  indentService,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { EditorState, type Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { useEffect, useRef } from 'preact/hooks'
import type { PolicyIssue } from '../../api/types.ts'
import { completePolicy, type PolicyWords } from './completion.ts'
import { policyColours, policyLanguage } from './language.ts'
import { editorTheme } from './theme.ts'

export interface EditorHandle {
  /** Puts the cursor there; lines and columns count from 1. */
  goTo(line: number, column: number): void
}

interface EditorProps {
  readonly label: string
  readonly value: string
  /** Another number: `value` is another document, and takes the place of what is in the editor. */
  readonly generation: number
  readonly onValue: (value: string) => void
  readonly issues: readonly PolicyIssue[]
  readonly warnings: readonly PolicyIssue[]
  readonly words: PolicyWords
  readonly readOnly: boolean
  /** Ctrl+S. */
  readonly onSave: () => void
  readonly handle: { current: EditorHandle | null }
}

const offsetOf = (text: Text, line: number, column: number): number => {
  const found = text.line(Math.min(Math.max(line, 1), text.lines))
  return Math.min(found.from + Math.max(column - 1, 0), found.to)
}

/** Of a new line: under the key of an item of a list, further in after a key without a value, else as the line before. */
const indentOf = (context: IndentContext, position: number): number => {
  const line = context.lineAt(position, -1)
  const indent = /^\s*/.exec(line.text)?.[0].length ?? 0
  const inside = /^\s*- /.test(line.text) ? 2 : 0
  return indent + inside + (/:\s*$/.test(line.text) ? 2 : 0)
}

/** From where the issue is to the end of the word there; a whole line where there is none. */
const diagnosticOf = (
  text: Text,
  { line, column, message }: PolicyIssue,
  severity: 'error' | 'warning',
): Diagnostic => {
  const from = offsetOf(text, line, column)
  const { to: end, from: begin } = text.lineAt(from)
  const word = /^[\w.]+/.exec(text.sliceString(from, end))?.[0].length ?? end - from
  const to = from + word
  return { from: to > from ? from : begin, to: Math.max(to, from), severity, message }
}

/** Keys that are typed are nobody else's shortcuts: outside of the shadow root they seem to come from a mere element. */
const keepKeys = (event: KeyboardEvent): void => {
  if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
}

export const Editor = (props: EditorProps) => {
  const { label, generation, issues, warnings, words, readOnly, handle } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef(props)
  latest.current = props

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const groups = new Set(words.facts.facts.map(({ name }) => name.split('.')[0] ?? ''))
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          lineNumbers(),
          lintGutter(),
          highlightActiveLineGutter(),
          highlightActiveLine(),
          drawSelection(),
          history(),
          bracketMatching(),
          closeBrackets(),
          indentUnit.of('  '),
          indentService.of(indentOf),
          EditorState.tabSize.of(2),
          EditorState.readOnly.of(readOnly),
          EditorView.lineWrapping,
          autocompletion({ override: [completePolicy(words)], icons: false, maxRenderedOptions: 60 }),
          policyLanguage(groups),
          syntaxHighlighting(policyColours),
          editorTheme,
          EditorView.contentAttributes.of({
            tabindex: '0',
            'aria-label': label,
            spellcheck: 'false',
            autocapitalize: 'off',
          }),
          keymap.of([
            {
              key: 'Mod-s',
              run: () => {
                latest.current.onSave()
                return true
              },
            },
            // The one choice, where some are offered; else Tab leaves the editor as it leaves any field.
            { key: 'Tab', run: acceptCompletion },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...lintKeymap,
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onValue(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    handle.current = {
      goTo: (line, column) => {
        const at = offsetOf(made.state.doc, line, column)
        made.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
        made.focus()
      },
    }
    element.addEventListener('keydown', keepKeys)
    return () => {
      element.removeEventListener('keydown', keepKeys)
      handle.current = null
      view.current = null
      made.destroy()
    }
  }, [label, readOnly, words])

  // Another document: a template, an older revision. Not whenever the value is another: that is what was typed a moment ago,
  // and the editor is ahead of it.
  useEffect(() => {
    const current = view.current
    const { value } = latest.current
    if (current === null || current.state.doc.toString() === value) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } })
  }, [generation])

  useEffect(() => {
    const current = view.current
    if (current === null) return
    const { doc } = current.state
    const found = [
      ...issues.map((issue) => diagnosticOf(doc, issue, 'error')),
      ...warnings.map((warning) => diagnosticOf(doc, warning, 'warning')),
    ]
    current.dispatch(setDiagnostics(current.state, found))
  }, [issues, warnings, words, readOnly])

  return <div ref={host} class="editor" />
}
