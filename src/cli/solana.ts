// `countersign solana deploy-plan`: prints the commands that deploy a registry program to a cluster and register our attesters,
// with Solana's tools and the example in docs/. Reads the store and sends nothing.
import { type ChainSettings, parseRpcUrl } from '../config/chain-settings.ts'
import { parseAddress } from '../domain/address.ts'
import { programAddress } from '../facts/solana-program-address.ts'
import { PROGRAM } from '../program/labels.ts'
import type { Store } from '../store/store.ts'
import { type CommandOutput, type ParsedCommand, UsageError } from './output.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign solana deploy-plan [--program ADDRESS] [--url URL]

Prints the steps that give a Solana cluster a registry program of your own (contracts/solana/registry): deploy it, see that it
is the one that was tested, make the registry, register this deployment's active attesters, set policies, check it all.

  --program ADDRESS  The deployed program; without it the registry of the chain "solana" in the configuration
  --url URL          Of the cluster's RPC (default https://api.devnet.solana.com)
  --json             Print JSON: the file's sum, the attesters, and with a program its registry account
  --help             Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

/** contracts/solana/registry/registry.so; a test compares both with the file. */
export const REGISTRY_FILE = {
  sha256: '03486567001a2b098a2acee3faa2c00f04b8a7969a4f602e746290a26913089b',
  bytes: 17_976,
} as const

const DEFAULT_URL = 'https://api.devnet.solana.com'

export interface SolanaCommandInput {
  readonly output: CommandOutput
  readonly openStore: () => Promise<Store>
  /** Settings of the chain "solana". */
  readonly settings: ChainSettings | undefined
}

interface Plan {
  readonly url: string
  readonly program: string | null
  readonly attesters: readonly string[]
}

const planText = ({ url, program, attesters }: Plan): string => {
  const address = program ?? 'ADDRESS'
  const setUp = `RPC_URL=${url} AUTHORITY_KEYPAIR=~/.config/solana/id.json REGISTRY_PROGRAM=${address} bun docs/examples/solana-registry.ts`
  return `1. Deploy the program. The Solana CLI's own key pays about 0.13 SOL and becomes the upgrade authority.

   sha256sum contracts/solana/registry/registry.so
   # ${REGISTRY_FILE.sha256}
   solana-keygen new --outfile registry-keypair.json
   solana program deploy --url ${url} --program-id registry-keypair.json contracts/solana/registry/registry.so

2. See that the deployed program is this one: the sum is the same.

   solana program dump --url ${url} ${address} deployed.so
   head -c ${REGISTRY_FILE.bytes} deployed.so | sha256sum

3. Make the registry and register the attesters that are active here. The upgrade authority signs and becomes the authority.

   ${setUp} attesters ${attesters.join(' ')}

4. Set the policy of each guarded program: the verification hash of its project. The program's upgrade authority signs.

   ${setUp} policy PROGRAM VERIFICATION_HASH

5. Name the program in the configuration, under chains: solana: { rpc: ..., registry: ${address} }, and check.

   ${PROGRAM} doctor --chain solana

6. Give the upgrade authority to those who shall have it, a multisignature wallet for example.

   solana program set-upgrade-authority --url ${url} ${address} --new-upgrade-authority WALLET
`
}

const deployPlan = async (
  command: ParsedCommand,
  { output, openStore, settings }: SolanaCommandInput,
): Promise<number> => {
  const given = command.text('program') ?? settings?.registry ?? null
  const url = command.text('url') ?? DEFAULT_URL
  if (given !== null && parseAddress('solana', given) === null) throw new UsageError('--program is no Solana address')
  try {
    parseRpcUrl(url)
  } catch (error) {
    throw new UsageError(`--url ${(error as Error).message}`)
  }
  if (!/^[\x21-\x7e]+$/.test(url) || /['"`$\\;&|<>]/.test(url))
    throw new UsageError('--url has characters of the shell')
  const store = await openStore()
  try {
    const attesters = (await store.attesters.list())
      .filter(({ kind, status }) => kind === 'ed25519' && status === 'active')
      .map(({ address }) => address)
    if (command.flag('json')) {
      const registry = given === null ? null : programAddress(given, [Buffer.from('predicate_registry')])
      output.stdout(`${JSON.stringify({ file: REGISTRY_FILE, url, program: given, registry, attesters })}\n`)
    } else output.stdout(planText({ url, program: given, attesters }))
    return 0
  } finally {
    await store.close()
  }
}

const VERBS = { 'deploy-plan': { run: deployPlan, words: 0 } } as const

const COMMAND = {
  help: USAGE,
  subject: 'Solana',
  verbs: VERBS,
  texts: ['program', 'url'],
}

export const runSolana = (commandArguments: readonly string[], input: SolanaCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) => run(command, input))
