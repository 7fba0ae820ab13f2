// `countersign project`: what an organization attests for, and which contracts and programs belong to it.
import { parseAddress } from '../domain/address.ts'
import { parseAnyAddress } from '../domain/address-key.ts'
import type { ChainTable } from '../domain/chain.ts'
import { type AnswerOf, type Open, type Opened, readPages } from './admin-client.ts'
import { runInOrganization } from './in-organization.ts'
import { parseWhole } from './key-options.ts'
import {
  CommandFailedError,
  type CommandOutput,
  type ParsedCommand,
  print,
  secondsOf,
  UsageError,
  type Verbs,
} from './output.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign project list [--org NAME]
       countersign project create --name NAME --policy ID [--lifetime SECONDS] [--hash HASH] [--org NAME]
       countersign project set PROJECT [--name NAME] [--policy ID] [--lifetime SECONDS] [--org NAME]
       countersign project bind PROJECT --chain CHAIN --address ADDRESS [--label LABEL] [--org NAME]
       countersign project unbind PROJECT --chain CHAIN --address ADDRESS [--org NAME]
       countersign project bindings PROJECT [--org NAME]

PROJECT is a project's id or its verification hash: the value that its contracts carry as their policy id.

  --lifetime SECONDS   How long an attestation is valid, 10 to 3600 (default 300)
  --hash HASH          Keep a verification hash that contracts already carry: x- and at least 16 hex digits, 64 bytes
                       at most
  --chain CHAIN        A chain's name, for example base or solana
  --address ADDRESS    The contract or program
  --org NAME           Organization, by name or id (default demo)
  --json               Print JSON
  --help               Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface ProjectCommandInput {
  readonly output: CommandOutput
  readonly chains: ChainTable
  readonly open: Open
}

interface Context extends Opened {
  readonly output: CommandOutput
  readonly chains: ChainTable
  readonly command: ParsedCommand
  readonly organizationId: string
}

const FLAGS = {
  name: '--name',
  policy_id: '--policy',
  lifetime_seconds: '--lifetime',
  verification_hash: '--hash',
  chain: '--chain',
  address: '--address',
}

const lifetimeOf = (command: ParsedCommand): { lifetime_seconds?: number } => {
  const text = command.text('lifetime')
  return text === undefined ? {} : { lifetime_seconds: parseWhole(text, '--lifetime') }
}

type Project = AnswerOf<'GET /organizations/{organization}/projects/{project}'>
type Binding = AnswerOf<'POST /organizations/{organization}/bindings'>

const readProjects = ({ admin, organizationId }: Context): Promise<readonly Project[]> =>
  readPages((query) =>
    admin.call('GET /organizations/{organization}/projects', { params: { organization: organizationId }, query }),
  )

const requireProject = async (context: Context): Promise<Project> => {
  const wanted = context.command.positionals[1]
  if (wanted === undefined) throw new UsageError('PROJECT is missing')
  const projects = await readProjects(context)
  const project = projects.find(({ id, verification_hash: hash }) => id === wanted || hash === wanted)
  if (project === undefined) throw new CommandFailedError(`there is no project ${wanted}`)
  return project
}

const printProjects = ({ output, command, organizationId }: Context, found: readonly Project[]): void => {
  const projects = found.map((project) => ({
    id: project.id,
    organizationId,
    name: project.name,
    verificationHash: project.verification_hash,
    policyId: project.policy_id,
    lifetimeSeconds: project.lifetime_seconds,
    version: project.version,
    createdAtSeconds: secondsOf(project.created_at),
    policyActive: project.policy_active,
  }))
  const rows = projects.map(({ id, name, verificationHash, policyId, policyActive, lifetimeSeconds }) => [
    id,
    name,
    verificationHash,
    policyActive ? policyId : `${policyId} (no active revision)`,
    `${lifetimeSeconds} s`,
  ])
  print({ output, command }, projects, [['PROJECT', 'NAME', 'VERIFICATION HASH', 'POLICY', 'LIFETIME'], ...rows])
  if (command.flag('json')) return
  for (const { name, policyId } of projects.filter(({ policyActive }) => !policyActive)) {
    output.stderr(
      `every request for ${name} is refused, because ${policyId} has no active revision: countersign policy activate ${policyId} --revision N\n`,
    )
  }
}

const list = async (context: Context): Promise<void> => {
  printProjects(context, await readProjects(context))
}

const create = async (context: Context): Promise<void> => {
  const { admin, command, organizationId } = context
  const hash = command.text('hash')
  const project = await admin.call('POST /organizations/{organization}/projects', {
    params: { organization: organizationId },
    body: {
      name: command.required('name'),
      policy_id: command.required('policy'),
      ...lifetimeOf(command),
      ...(hash === undefined ? {} : { verification_hash: hash }),
    },
    flags: FLAGS,
  })
  printProjects(context, [project])
}

const set = async (context: Context): Promise<void> => {
  const { admin, command, organizationId } = context
  const { id } = await requireProject(context)
  const name = command.text('name')
  const policyId = command.text('policy')
  const project = await admin.call('PATCH /organizations/{organization}/projects/{project}', {
    params: { organization: organizationId, project: id },
    body: {
      ...lifetimeOf(command),
      ...(name === undefined ? {} : { name }),
      ...(policyId === undefined ? {} : { policy_id: policyId }),
    },
    flags: FLAGS,
  })
  printProjects(context, [project])
}

const describeBinding = ({ organizationId }: Context, binding: Binding) => ({
  id: binding.id,
  organizationId,
  projectId: binding.project_id,
  chainName: binding.chain,
  address: parseAnyAddress(binding.address) ?? binding.address,
  label: binding.label,
  createdAtSeconds: secondsOf(binding.created_at),
})

const readBindings = async (context: Context, project: Project) => {
  const { admin, organizationId: organization } = context
  const path = 'GET /organizations/{organization}/bindings'
  const found = await readPages((page) =>
    admin.call(path, { params: { organization }, query: { ...page, project_id: project.id } }),
  )
  return found.map((binding) => describeBinding(context, binding))
}

const bind = async (context: Context): Promise<void> => {
  const { admin, output, command, organizationId } = context
  const project = await requireProject(context)
  const label = command.text('label')
  const bound = await admin.call('POST /organizations/{organization}/bindings', {
    params: { organization: organizationId },
    body: {
      project_id: project.id,
      chain: command.required('chain'),
      address: command.required('address'),
      ...(label === undefined ? {} : { label }),
    },
    flags: FLAGS,
  })
  print(
    { output, command },
    describeBinding(context, bound),
    `${bound.address} on ${bound.chain} belongs to ${project.name}\n`,
  )
}

const unbind = async (context: Context): Promise<void> => {
  const { admin, output, chains, command, organizationId } = context
  const project = await requireProject(context)
  const chainName = command.required('chain')
  const text = command.required('address')
  const chain = chains.byName(chainName)
  const address = chain === undefined ? null : parseAddress(chain.family, text)
  const binding = (await readBindings(context, project)).find(
    (each) => each.chainName === chain?.name && each.address === address,
  )
  if (binding === undefined) {
    throw new CommandFailedError(`${text} on ${chainName} does not belong to ${project.name}`)
  }
  await admin.call('DELETE /organizations/{organization}/bindings/{binding}', {
    params: { organization: organizationId, binding: binding.id },
  })
  print({ output, command }, binding, `${binding.address} on ${binding.chainName} belongs to no project now\n`)
}

const bindings = async (context: Context): Promise<void> => {
  const { output, command } = context
  const found = await readBindings(context, await requireProject(context))
  print({ output, command }, found, [
    ['CHAIN', 'ADDRESS', 'LABEL'],
    ...found.map(({ chainName, address, label }) => [chainName, address, label ?? '']),
  ])
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  list: { run: list, words: 0 },
  create: { run: create, words: 0 },
  set: { run: set, words: 1 },
  bind: { run: bind, words: 1 },
  unbind: { run: unbind, words: 1 },
  bindings: { run: bindings, words: 1 },
}

const COMMAND = {
  help: USAGE,
  subject: 'projects',
  verbs: VERBS,
  texts: ['org', 'name', 'policy', 'lifetime', 'hash', 'chain', 'address', 'label'],
}

export const runProject = (commandArguments: readonly string[], input: ProjectCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runInOrganization(input.open, command, (opened, organizationId) =>
      run({ ...opened, output: input.output, chains: input.chains, command, organizationId }),
    ),
  )
