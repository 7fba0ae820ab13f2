// `countersign policy check|templates|new|schema`, which need no deployment.
import { existsSync } from 'node:fs'
import { exampleFactsOf } from '../../admin/policies/needs-shown.ts'
import type { CommandContext } from '../../command-line/command.ts'
import { CommandFailedError, formatTable, print } from '../../command-line/output.ts'
import { knownHere, printWarnings, readDraft } from '../../command-line/policy-context.ts'
import { counted } from '../../lib/counted.ts'
import { durationText } from '../../lib/time.ts'
import { policyJsonSchemaText } from '../../policy/document/json-schema.ts'
import { readTemplates } from '../../policy/tools/templates.ts'
import type { FactNeed } from '../../policy/types/needs.ts'

const SCHEMA = new URL('../../../docs/policy.schema.json', import.meta.url)

const describeNeed = (need: FactNeed): string => {
  switch (need.kind) {
    case 'list':
      return `list ${need.list}${need.maxAgeSeconds === null ? '' : ` (at most ${durationText(need.maxAgeSeconds)} old)`}`
    case 'screener':
      return `screener ${need.screener}${need.onBehalf === true ? ' of onBehalf' : ''}`
    case 'on-behalf-identity':
      return 'identity of onBehalf'
    case 'read':
      return `read ${need.read}`
    case 'velocity':
      return `velocity over ${durationText(need.windowSeconds)}`
    default:
      return need.kind
  }
}

export const check = async (context: CommandContext): Promise<number> => {
  const { source, compiled, contentHash, tests, warnings } = readDraft(
    context.command.words[0] ?? '',
    await knownHere(context),
  )
  const { document, requires, needs } = compiled
  const rules = document.rules.length
  const tested = tests.length === 0 ? 'no tests' : `${counted(tests.length, 'test', 'tests')} passed`
  const wants = [...requires, ...needs.map(describeNeed)]
  const text = `${document.name}: valid, ${counted(rules, 'rule', 'rules')}, ${tested}`
  print(
    context,
    {
      valid: true,
      name: document.name,
      contentHash,
      rules,
      tests: tests.length,
      requires,
      needs,
      example_facts: exampleFactsOf(needs),
      warnings,
    },
    `${text}${wants.length === 0 ? '' : `; needs ${wants.join(', ')}`}\n`,
  )
  printWarnings(context, source, warnings)
  return 0
}

export const templates = (context: CommandContext): number => {
  const all = readTemplates().map(({ name, title, description }) => ({ name, title, description }))
  print(context, all, formatTable([['TEMPLATE', 'NAME'], ...all.map(({ name, title }) => [name, title])]))
  return 0
}

/** Returns a comment that refers editors to the schema; empty if the installation lacks it. */
const editorLine = (): string => (existsSync(SCHEMA) ? `# yaml-language-server: $schema=${SCHEMA.href}\n` : '')

export const create = (context: CommandContext): number => {
  const name = context.command.required('template')
  const template = readTemplates().find((one) => one.name === name)
  if (template === undefined) throw new CommandFailedError(`unknown template ${name}`)
  const source = `${editorLine()}${template.source}`
  print(context, { template: name, source }, source)
  return 0
}

export const schema = ({ output }: CommandContext): number => {
  output.stdout(policyJsonSchemaText())
  return 0
}
