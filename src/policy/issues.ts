import { CountersignError } from '../domain/errors.ts'
import { counted } from '../lib/counted.ts'

/** Lines and columns start at 1; columns count UTF-16 code units. */
export interface PolicyIssue {
  readonly line: number
  readonly column: number
  readonly message: string
  /** JSON pointer (RFC 6901), such as `/rules/2/deny`; empty for the whole document. */
  readonly pointer: string
}

/** Maximum issues, at which compilation stops. */
export const ISSUES_MAX = 100
/** Maximum length of a line; longer lines are shown as an excerpt around the column. */
const MAX_EXCERPT = 120

const excerpt = (sourceLine: string, column: number): string => {
  const from = column > MAX_EXCERPT - 20 ? column - (MAX_EXCERPT - 40) : 0
  const shown = sourceLine.slice(from, from + MAX_EXCERPT)
  // Keeps tabs, so that the caret is below the column for any tab width.
  const padding = sourceLine.slice(from, Math.max(from, column - 1)).replace(/[^\t]/g, ' ')
  return `${shown}\n${padding}^`
}

export const renderIssues = (source: string, issues: readonly PolicyIssue[]): string => {
  const lastLine = Math.max(0, ...issues.map(({ line }) => line))
  const lines = source.split(/\r?\n/, lastLine)
  return issues
    .map(({ line, column, message, pointer }) => {
      const head = `${line}:${column} ${pointer === '' ? '' : `${pointer} `}${message}`
      const sourceLine = lines[line - 1]
      if (sourceLine === undefined || sourceLine.trim() === '') return head
      return `${head}\n${excerpt(sourceLine, column).replace(/^/gm, '    ')}`
    })
    .join('\n')
}

export const inReadingOrder = (a: PolicyIssue, b: PolicyIssue): number => a.line - b.line || a.column - b.column

/** `message` shows each issue with its source line. `detail` contains no source, because others may read it. */
export class PolicyInvalidError extends CountersignError {
  readonly issues: readonly PolicyIssue[]
  /** Empty unless failed tests are the only mistakes. */
  readonly warnings: readonly PolicyIssue[]

  constructor(source: string, issues: readonly PolicyIssue[], warnings: readonly PolicyIssue[] = []) {
    super('INVALID_REQUEST', `the policy has ${counted(issues.length, 'mistake', 'mistakes')}`)
    this.issues = [...issues].sort(inReadingOrder).slice(0, ISSUES_MAX)
    this.warnings = warnings
    this.message = renderIssues(source, this.issues)
  }
}
