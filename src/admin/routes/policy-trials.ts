import { PolicyInvalidError } from '../../policy/issues.ts'
import { draftSteps } from '../../policy/revision.ts'
import { testSteps } from '../../policy/tools/policy-tests.ts'
import { POLICY_SUBJECTS } from '../../policy/types/document.ts'
import type { FactNeed } from '../../policy/types/needs.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'
import { knownSources } from '../policies/find.ts'
import { POLICY_ISSUE as ISSUE, showIssues, WARNINGS } from '../policies/issue.ts'
import { exampleFactsOf, wordsOf } from '../policies/needs-shown.ts'
import { compiledOf, SOURCE, SOURCE_BYTES_MAX } from '../policies/source.ts'
import { declareRoutes, VIEWER } from '../route.ts'
import { closed, named, nullable, oneOf, Type } from '../schema.ts'

const route = declareRoutes('Policy trials')

export const RULE_KIND = oneOf(['allow', 'deny', 'require', 'review'])

const RULE = closed({
  id: Type.String(),
  kind: RULE_KIND,
  expression: Type.String(),
  code: nullable(Type.String()),
  message: nullable(Type.String()),
})

const CHECKED = named(
  'CheckedPolicy',
  closed({
    name: Type.String(),
    description: Type.String(),
    decides: oneOf(POLICY_SUBJECTS),
    default: oneOf(['allow', 'deny', 'review']),
    quorum: Type.Integer(),
    rules: Type.Array(RULE),
    requires: Type.Array(Type.String(), { description: 'Request fields that callers must send' }),
    needs: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'Data sources that the policy queries',
    }),
    asks_for: Type.Array(Type.String(), { description: '`needs` as text' }),
    example_facts: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Example data from each source, for the `facts` and `lists` of a simulation',
    }),
    tests: Type.Integer(),
  }),
)

const showNeed = (need: FactNeed): Record<string, unknown> => ({ ...need })

const showChecked = ({ document, requires, needs }: CompiledPolicy) => ({
  name: document.name,
  description: document.description,
  decides: document.decides,
  default: document.default,
  quorum: document.quorum,
  rules: document.rules.map(({ id, kind, expression, code, message }) => ({ id, kind, expression, code, message })),
  requires: [...requires],
  needs: needs.map(showNeed),
  asks_for: [...new Set(needs.map(wordsOf))],
  example_facts: exampleFactsOf(needs),
  tests: document.tests.length,
})

const invalidReply = (error: PolicyInvalidError) => ({
  valid: false,
  issues: showIssues(error.issues),
  warnings: showIssues(error.warnings),
  policy: null,
})

export const POLICY_TRIAL_ROUTES = [
  route('checkPolicy', 'POST', '/organizations/{organization}/policies/check', {
    access: VIEWER,
    command: false,
    alone: 'reads',
    summary: 'Check a document without saving it',
    description:
      'Returns each error with its line and column, and runs the document’s own tests. For a valid document, returns warnings about likely mistakes.',
    body: closed({ source: SOURCE }),
    bodyMaxBytes: SOURCE_BYTES_MAX,
    answer: closed({ valid: Type.Boolean(), issues: Type.Array(ISSUE), warnings: WARNINGS, policy: nullable(CHECKED) }),
    handle: async ({ services, organization, body, deadline }) => {
      try {
        const known = await knownSources(services.store, organization.id, services.policyFacts)
        const draft = draftSteps(body.source, known)
        const { compiled, warnings } = await services.policyWork.run(organization.id, draft, deadline)
        return { valid: true, issues: [], warnings: showIssues(warnings), policy: showChecked(compiled) }
      } catch (error) {
        if (error instanceof PolicyInvalidError) return invalidReply(error)
        throw error
      }
    },
  }),
  route('testPolicy', 'POST', '/organizations/{organization}/policies/test', {
    access: VIEWER,
    command: false,
    alone: 'reads',
    summary: 'Run a document’s tests',
    body: closed({ source: Type.Optional(SOURCE), revision_id: Type.Optional(Type.String({ maxLength: 100 })) }),
    bodyMaxBytes: SOURCE_BYTES_MAX,
    answer: closed({
      passed: Type.Integer(),
      failed: Type.Integer(),
      results: Type.Array(closed({ name: Type.String(), failure: nullable(Type.String()) })),
    }),
    handle: async ({ services, organization, body, deadline }) => {
      const { policy } = await compiledOf(services, organization.id, deadline, body)
      const results = await services.policyWork.run(organization.id, testSteps(policy), deadline)
      const failed = results.filter(({ failure }) => failure !== null).length
      return { passed: results.length - failed, failed, results: results.map((result) => ({ ...result })) }
    },
  }),
]
