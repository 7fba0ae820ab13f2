// `countersign policy simulate`: a session policy on one session.
import { type Command, type CommandContext, ORG, text } from '../../../command-line/command.ts'
import { formatTable, print } from '../../../command-line/output.ts'
import {
  inOrganization,
  REVISION_OPTION,
  REVISION_WORD,
  reportingMistakes,
  resolvePolicyText,
} from '../../../command-line/policy-context.ts'

const OUTCOMES = { completed: 'completed', rejected: 'rejected', review: 'left to a reviewer' } as const

const simulate = async (given: CommandContext): Promise<number> => {
  const context = await inOrganization(given)
  const { command, admin, organization } = context
  const { source } = await resolvePolicyText(context, command.words[0] ?? '')
  const trial = await admin.call('POST /organizations/{organization}/sessions/{session}/simulate', {
    params: { organization, session: command.required('session') },
    body: { source },
  })
  const { outcome, rule, code, message, problem, rules, facts } = trial
  const why = [
    rule === null ? 'no rule matched' : `rule ${rule}`,
    ...(code === null ? [] : [code]),
    ...(message === null ? [] : [message]),
    ...(problem === null ? [] : [problem]),
  ].join(': ')
  const rows = rules.map(({ id, kind, value, reached, failure }) => [
    id,
    kind,
    failure ?? String(value),
    reached ? 'yes' : 'no',
  ])
  const known = Object.entries(facts).map(([name, value]) => [name, value === null ? '-' : String(value)])
  const text = `${OUTCOMES[outcome]}: ${why}\n\n${formatTable([['RULE', 'KIND', 'VALUE', 'REACHED'], ...rows])}\n${formatTable([['FACT', 'VALUE'], ...known])}`
  print(context, trial, text)
  return 0
}

export const SIMULATE_COMMANDS: readonly Command[] = [
  {
    noun: 'policy',
    verb: 'simulate',
    summary: 'Simulate a session policy on a session',
    words: [REVISION_WORD],
    options: [text('session', 'ID', 'Session ID', { required: true }), REVISION_OPTION, ORG],
    run: reportingMistakes(simulate),
  },
]
