import type { PolicyIssue } from '../../policy/issues.ts'
import { closed, named, Type } from '../schema.ts'

export const POLICY_ISSUE = named(
  'PolicyIssue',
  closed({
    line: Type.Integer(),
    column: Type.Integer(),
    message: Type.String(),
    pointer: Type.String({ description: 'JSON Pointer to the location in the document' }),
  }),
)

export const WARNINGS = Type.Array(POLICY_ISSUE, {
  description: 'Likely mistakes, with suggestions. They do not prevent saving',
})

export const showIssues = (issues: readonly PolicyIssue[]): PolicyIssue[] =>
  issues.map(({ line, column, message, pointer }) => ({ line, column, message, pointer }))
