// CodeMirror runs in a shadow root, where its styles are a constructed style sheet. In the document they would be a
// style element, which the content security policy forbids.
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
  /** Lines and columns start at 1. */
  goTo(line: number, column: number): void
}

interface EditorProps {
  readonly label: string
  readonly value: string
  /** Incremented if `value` is a different document, which then replaces the content of the editor. */
  readonly generation: number
  readonly onValue: (value: string) => void
  readonly issues: readonly PolicyIssue[]
  readonly warnings: readonly PolicyIssue[]
  readonly words: PolicyWords
  readonly readOnly: boolean
  readonly onSave: () => void
  readonly handle: { current: EditorHandle | null }
}

const offsetOf = (text: Text, line: number, column: number): number => {
  const found = text.line(Math.min(Math.max(line, 1), text.lines))
  return Math.min(found.from + Math.max(column - 1, 0), found.to)
}

/** Indents under the key of a list item, deeper after a key without a value, otherwise like the previous line. */
const indentOf = (context: IndentContext, position: number): number => {
  const line = context.lineAt(position, -1)
  const indent = /^\s*/.exec(line.text)?.[0].length ?? 0
  const inside = /^\s*- /.test(line.text) ? 2 : 0
  return indent + inside + (/:\s*$/.test(line.text) ? 2 : 0)
}

/** Marks the text from the issue's position to the end of the word; the whole line if there is no word. */
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

/** Outside the shadow root, typed keys seem to come from a non-editable element and would trigger shortcuts. */
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
            // Accepts a completion if there is one; otherwise, Tab leaves the editor.
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

  // Replaces the content only for a different document: the editor may be ahead of a `value` that was just typed.
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
