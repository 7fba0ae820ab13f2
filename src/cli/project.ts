// `countersign project`: what an organization attests for, and which contracts and programs belong to it.
import { parseAddress } from '../domain/address.ts'
import type { ChainTable } from '../domain/chain.ts'
import { ConstraintViolatedError } from '../store/errors.ts'
import type { Project } from '../store/projects.ts'
import type { Store } from '../store/store.ts'
import { runInOrganization } from './in-organization.ts'
import {
  CommandFailedError,
  type CommandOutput,
  findVerb,
  formatTable,
  type ParsedCommand,
  parseCommand,
  runToExitCode,
  UsageError,
  type Verbs,
} from './output.ts'

const USAGE = `Usage: countersign project list [--org NAME]
       countersign project create --name NAME --policy ID [--lifetime SECONDS] [--hash HASH] [--org NAME]
       countersign project set PROJECT [--name NAME] [--policy ID] [--lifetime SECONDS] [--org NAME]
       countersign project bind PROJECT --chain CHAIN --address ADDRESS [--org NAME]
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
  readonly openStore: () => Promise<Store>
}

interface Context {
  readonly store: Store
  readonly output: CommandOutput
  readonly chains: ChainTable
  readonly command: ParsedCommand
  readonly organizationId: string
}

const lifetime = (command: ParsedCommand): { lifetimeSeconds?: number } => {
  const text = command.text('lifetime')
  if (text === undefined) return {}
  const seconds = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0
  if (seconds < 10 || seconds > 3600) throw new UsageError('--lifetime must be a whole number from 10 to 3600')
  return { lifetimeSeconds: seconds }
}

const requireProject = async ({ store, command, organizationId }: Context): Promise<Project> => {
  const wanted = command.positionals[1]
  if (wanted === undefined) throw new UsageError('PROJECT is missing')
  const projects = await store.projects.list(organizationId)
  const project = projects.find(({ id, verificationHash }) => id === wanted || verificationHash === wanted)
  if (project === undefined) throw new CommandFailedError(`there is no project ${wanted}`)
  return project
}

const printProjects = ({ output, command }: Context, projects: readonly Project[]): void => {
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify(projects)}\n`)
    return
  }
  const rows = projects.map(({ id, name, verificationHash, policyId, lifetimeSeconds }) => [
    id,
    name,
    verificationHash,
    policyId,
    `${lifetimeSeconds} s`,
  ])
  output.stdout(formatTable([['PROJECT', 'NAME', 'VERIFICATION HASH', 'POLICY', 'LIFETIME'], ...rows]))
}

const list = async (context: Context): Promise<void> => {
  printProjects(context, await context.store.projects.list(context.organizationId))
}

const create = async (context: Context): Promise<void> => {
  const { store, command, organizationId } = context
  const hash = command.text('hash')
  if (hash !== undefined && !/^x-[0-9a-f]{16,62}$/.test(hash)) {
    throw new UsageError('--hash must be x- and 16 to 62 lower-case hex digits')
  }
  const project = await store.projects.create({
    organizationId,
    name: command.required('name'),
    policyId: command.required('policy'),
    ...lifetime(command),
    ...(hash === undefined ? {} : { verificationHash: hash }),
  })
  printProjects(context, [project])
}

const set = async (context: Context): Promise<void> => {
  const { store, command, organizationId } = context
  const project = await requireProject(context)
  const name = command.text('name')
  const policyId = command.text('policy')
  const updated = await store.projects.update(organizationId, project.id, {
    ...lifetime(command),
    ...(name === undefined ? {} : { name }),
    ...(policyId === undefined ? {} : { policyId }),
  })
  printProjects(context, updated === null ? [] : [updated])
}

const place = ({ chains, command }: Context): { chainName: string; address: string } => {
  const chain = chains.byName(command.required('chain'))
  if (chain === undefined)
    throw new UsageError(`--chain must be one of ${chains.chains.map(({ name }) => name).join(', ')}`)
  const address = parseAddress(chain.family, command.required('address'))
  if (address === null) throw new UsageError(`--address is not an address of ${chain.name}`)
  return { chainName: chain.name, address }
}

const bind = async (context: Context): Promise<void> => {
  const { store, output, command, organizationId } = context
  const project = await requireProject(context)
  const binding = await store.bindings.create({ organizationId, projectId: project.id, ...place(context) })
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(binding)}\n`
      : `${binding.address} on ${binding.chainName} belongs to ${project.name}\n`,
  )
}

const unbind = async (context: Context): Promise<void> => {
  const { store, output, command, organizationId } = context
  const project = await requireProject(context)
  const { chainName, address } = place(context)
  const binding = await store.bindings.findByAddress(organizationId, chainName, address)
  if (binding === null || binding.projectId !== project.id) {
    throw new CommandFailedError(`${address} on ${chainName} does not belong to ${project.name}`)
  }
  await store.bindings.remove(organizationId, binding.id)
  output.stdout(
    command.flag('json') ? `${JSON.stringify(binding)}\n` : `${address} on ${chainName} belongs to no project now\n`,
  )
}

const bindings = async (context: Context): Promise<void> => {
  const { store, output, command, organizationId } = context
  const project = await requireProject(context)
  const found = await store.bindings.list(organizationId, project.id)
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(found)}\n`
      : formatTable([['CHAIN', 'ADDRESS'], ...found.map(({ chainName, address }) => [chainName, address])]),
  )
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  list: { run: list, words: 0 },
  create: { run: create, words: 0 },
  set: { run: set, words: 1 },
  bind: { run: bind, words: 1 },
  unbind: { run: unbind, words: 1 },
  bindings: { run: bindings, words: 1 },
}

const CONSTRAINT_TEXT: Readonly<Record<string, string>> = {
  unique: 'it exists already',
  'foreign-key': 'it names something that the organization does not have',
}

export const runProject = (commandArguments: readonly string[], input: ProjectCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, async () => {
    const text = { type: 'string' } as const
    const command = parseCommand(
      commandArguments,
      {
        ...{ org: text, name: text, policy: text, lifetime: text, hash: text, chain: text, address: text },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      VERBS,
    )
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    const run = findVerb(VERBS, command)
    if (run === undefined) throw new UsageError('say what to do with projects')
    try {
      return await runInOrganization(input.openStore, command, (store, organizationId) =>
        run({ store, output: input.output, chains: input.chains, command, organizationId }),
      )
    } catch (error) {
      if (!(error instanceof ConstraintViolatedError)) throw error
      throw new CommandFailedError(`refused: ${CONSTRAINT_TEXT[error.constraint] ?? error.detail}`)
    }
  })
