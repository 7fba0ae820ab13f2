// The colors follow the dashboard's style sheet, including theme changes.
import { EditorView } from '@codemirror/view'

export const editorTheme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--card)', fontSize: '0.93rem' },
  // The surrounding card shows the focus: inside, the gutter would cover it.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', minHeight: '26rem', maxHeight: '72vh' },
  '.cm-content, .cm-gutter': { minHeight: '26rem' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 0.8rem 0 0.5rem' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink-faint)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--tint) 45%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--tint)', color: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 28%, transparent) !important',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--tint)', outline: '1px solid var(--edge)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius-small)',
    backgroundColor: 'var(--card)',
    color: 'var(--ink)',
    boxShadow: 'var(--shadow-high)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.15rem 0.5rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.75' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.5rem 0.7rem', maxWidth: '22rem', fontFamily: 'var(--sans)' },
  '.cm-diagnostic': { padding: '0.3rem 0.6rem', borderLeft: '3px solid var(--bad)', whiteSpace: 'pre-wrap' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '0.2em',
  },
  '.cm-lint-marker-error': {
    content: 'none',
    width: '0.6rem',
    height: '0.6rem',
    margin: '0.25rem 0.1rem',
    borderRadius: '50%',
    backgroundColor: 'var(--bad)',
  },
})
