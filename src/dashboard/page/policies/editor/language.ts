// Line-based highlighting of YAML and conditions. It only affects colors; the service determines the meaning.
import { HighlightStyle, StreamLanguage, type StringStream } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { CONDITION_KEYS } from '../../../../policy/rule-form/condition-lines.ts'

interface State {
  /** Whether the position is within the value of a condition. */
  expression: boolean
  /** Indentation of the key with a multi-line value; null outside one. */
  blockIndent: number | null
  /** Whether the multi-line text is a condition. */
  blockExpression: boolean
  /** Whether a key may follow. */
  atKey: boolean
}

const KEY = /^[A-Za-z_][\w./-]*(?=\s*:(?:\s|$))/
const NUMBER = /^(?:0x[0-9a-fA-F]+|[0-9][0-9_]*(?:\.[0-9]+)?)/
const OPERATOR = /^(?:&&|\|\||==|!=|<=|>=|[<>!+\-*/%?])/

const expressionToken = (stream: StringStream, groups: ReadonlySet<string>): string | null => {
  if (stream.match(NUMBER)) return 'number'
  if (stream.match(OPERATOR)) return 'operator'
  const name = stream.match(/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/)
  if (name === null || name === true || name === false) {
    stream.next()
    return null
  }
  const [text = ''] = name
  if (/^(true|false|null)$/.test(text)) return 'bool'
  if (text === 'in') return 'operatorKeyword'
  if (groups.has(text.split('.')[0] ?? '')) return 'variableName'
  return stream.match(/^\s*\(/, false) ? 'function' : null
}

/** @param groups first parts of fact names: `wallet`, `client` … */
export const policyLanguage = (groups: ReadonlySet<string>) =>
  StreamLanguage.define<State>({
    name: 'policy',
    startState: () => ({ expression: false, blockIndent: null, blockExpression: false, atKey: true }),
    languageData: { commentTokens: { line: '#' } },
    token: (stream, state) => {
      if (stream.sol()) {
        const deeper = state.blockIndent !== null && stream.indentation() > state.blockIndent
        if (!deeper && stream.match(/^\s*$/, false) === null) state.blockIndent = null
        state.expression = deeper && state.blockExpression
        state.atKey = !deeper
      }
      if (stream.eatSpace()) return null
      if (!state.expression && stream.peek() === '#') {
        stream.skipToEnd()
        return 'comment'
      }
      if (state.atKey && stream.match(/^-(?=\s|$)/)) return 'punctuation'
      const key = state.atKey ? stream.match(KEY) : null
      if (key !== null && key !== true && key !== false) {
        const [name = ''] = key
        state.atKey = false
        state.expression = CONDITION_KEYS.has(name)
        return 'propertyName'
      }
      if (stream.match(/^:(?=\s|$)/)) return 'punctuation'
      if (stream.match(/^[|>][+-]?\s*$/)) {
        state.blockIndent = stream.indentation()
        state.blockExpression = state.expression
        return 'punctuation'
      }
      if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^']|'')*'?/)) return 'string'
      if (state.expression) return expressionToken(stream, groups)
      if (stream.match(/^[{}[\],]/)) {
        state.atKey = true
        return 'punctuation'
      }
      if (stream.match(/^(?:true|false|null)(?=\s*(?:$|[,}\]#]))/)) return 'bool'
      if (stream.match(/^(?:0x[0-9a-fA-F]+|[0-9][0-9_.]*)(?=\s*(?:$|[,}\]#]))/)) return 'number'
      stream.match(/^[^\s,{}[\]]+/) || stream.next()
      state.atKey = false
      return null
    },
    tokenTable: { function: tags.function(tags.variableName) },
  })

export const policyColours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent-text)', fontWeight: '560' },
  { tag: tags.comment, color: 'var(--ink-faint)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool], color: 'var(--chart-4)' },
  { tag: tags.variableName, color: 'var(--chart-1)', fontWeight: '560' },
  { tag: tags.function(tags.variableName), color: 'var(--warn)' },
  { tag: [tags.operator, tags.operatorKeyword, tags.punctuation], color: 'var(--ink-soft)' },
])
