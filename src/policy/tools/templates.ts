// Policy templates from docs/policies.
import { readFileSync } from 'node:fs'
import ALLOW_LIST_ONLY from '../../../docs/policies/allow-list-only.yaml' with { type: 'file' }
import FUNCTION_ALLOW_LIST from '../../../docs/policies/function-allow-list.yaml' with { type: 'file' }
import IDENTITY_REQUIRED from '../../../docs/policies/identity-required.yaml' with { type: 'file' }
import PEOPLE_AUTOMATICALLY from '../../../docs/policies/people-automatically.yaml' with { type: 'file' }
import SANCTIONS_AND_GEOGRAPHY from '../../../docs/policies/sanctions-and-geography.yaml' with { type: 'file' }
import VALUE_AND_VELOCITY_LIMIT from '../../../docs/policies/value-and-velocity-limit.yaml' with { type: 'file' }
import { sourceSteps } from '../cel/compile.ts'
import { finish, finishInTurns, type Steps } from '../cel/steps.ts'

/** Imported, so that the single-file executable includes them. */
const FILES: Readonly<Record<string, string>> = {
  'allow-list-only': ALLOW_LIST_ONLY,
  'function-allow-list': FUNCTION_ALLOW_LIST,
  'identity-required': IDENTITY_REQUIRED,
  'people-automatically': PEOPLE_AUTOMATICALLY,
  'sanctions-and-geography': SANCTIONS_AND_GEOGRAPHY,
  'value-and-velocity-limit': VALUE_AND_VELOCITY_LIMIT,
}
/** Comment with the schema's relative path, for editors of the template files. */
const EDITOR_LINE = /^# yaml-language-server: .*\n/

export interface PolicyTemplate {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly source: string
}

function* templateSteps(): Steps<readonly PolicyTemplate[]> {
  const templates: PolicyTemplate[] = []
  for (const [name, path] of Object.entries(FILES)) {
    const source = readFileSync(path, 'utf8').replace(EDITOR_LINE, '')
    const { document } = (yield* sourceSteps(source)).policy
    templates.push({ name, title: document.name, description: document.description, source })
  }
  return templates
}

export const readTemplates = (): readonly PolicyTemplate[] => finish(templateSteps())

/** Reads the templates in turns of the event loop. */
export const readTemplatesInTurns = (): Promise<readonly PolicyTemplate[]> => finishInTurns(templateSteps())

export const DEMO_POLICY = `name: Demo policy
description: Denies one wallet and allows all others. Replace before use in production.
default: allow
rules:
  - id: demo-denied-wallet
    deny: wallet.address == address("0x000000000000000000000000000000000000dEaD")
    code: DEMO_DENIED
    message: This wallet is denied by the demo policy.
`
