// Schema of a mistake or warning in a policy document.
import type { PolicyIssue } from '../../policy/errors.ts'
import { closed, named, Type } from '../schema.ts'

export const POLICY_ISSUE = named(
  'PolicyIssue',
  closed({
    line: Type.Integer(),
    column: Type.Integer(),
    message: Type.String(),
    pointer: Type.String({ description: 'JSON pointer to the place in the document' }),
  }),
)

export const WARNINGS = Type.Array(POLICY_ISSUE, {
  description: 'What is likely not meant, with what probably is. It keeps nothing from being saved',
})

/** Returns the API form of issues with their positions. */
export const showIssues = (issues: readonly PolicyIssue[]): PolicyIssue[] =>
  issues.map(({ line, column, message, pointer }) => ({ line, column, message, pointer }))
