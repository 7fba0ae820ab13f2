// `countersign solana deploy-plan`: prints commands that deploy a registry and register attesters. Sends nothing.

import { type Command, type CommandContext, text } from '../command-line/command.ts'
import { print, UsageError } from '../command-line/output.ts'
import { parseRpcUrl } from '../config/chain-settings.ts'
import { parseAddress } from '../domain/address.ts'
import { programAddress } from '../facts/solana-program-address.ts'
import { PROGRAM } from '../program/labels.ts'

/** contracts/solana/registry/registry.so; a test compares them. */
export const REGISTRY_FILE = {
  sha256: '03486567001a2b098a2acee3faa2c00f04b8a7969a4f602e746290a26913089b',
  bytes: 17_976,
} as const

const DEFAULT_URL = 'https://api.devnet.solana.com'

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

2. Compare the deployed program with the file: both must have the same SHA-256.

   solana program dump --url ${url} ${address} deployed.so
   head -c ${REGISTRY_FILE.bytes} deployed.so | sha256sum

3. Create the registry and register this deployment's active attesters. The upgrade authority signs and becomes the registry's authority.

   ${setUp} attesters ${attesters.join(' ')}

4. Set the policy of each guarded program to the verification hash of its project. The guarded program's upgrade authority signs.

   ${setUp} policy PROGRAM VERIFICATION_HASH

5. Add the program to the configuration, under chains: solana: { rpc: ..., registry: ${address} }, then check it.

   ${PROGRAM} doctor --chain solana

6. Transfer the upgrade authority to its final holder, for example a multisignature wallet.

   solana program set-upgrade-authority --url ${url} ${address} --new-upgrade-authority WALLET
`
}

const deployPlan = async ({ command, output, deployment }: CommandContext): Promise<number> => {
  const given = command.text('program') ?? deployment.config.chainSettings.get('solana')?.registry ?? null
  const url = command.text('url') ?? DEFAULT_URL
  if (given !== null && parseAddress('solana', given) === null)
    throw new UsageError('--program is not a Solana address')
  try {
    parseRpcUrl(url)
  } catch (error) {
    throw new UsageError(`--url ${(error as Error).message}`)
  }
  if (!/^[\x21-\x7e]+$/.test(url) || /['"`$\\;&|<>]/.test(url))
    throw new UsageError('--url contains characters that a shell would interpret')
  const attesters = (await deployment.withStore((store) => store.attesters.list()))
    .filter(({ kind, status }) => kind === 'ed25519' && status === 'active')
    .map(({ address }) => address)
  const registry = given === null ? null : programAddress(given, [Buffer.from('predicate_registry')])
  print(
    { output, command },
    { file: REGISTRY_FILE, url, program: given, registry, attesters },
    planText({ url, program: given, attesters }),
  )
  return 0
}

export const SOLANA_COMMANDS: readonly Command[] = [
  {
    noun: 'solana',
    verb: 'deploy-plan',
    summary: 'Show the steps to deploy your own registry program to a Solana cluster',
    description:
      'Deploy contracts/solana/registry, compare it with the tested program, create the registry, register the active attesters of ' +
      'this deployment, set policies, and check the result.',
    options: [
      text('program', 'ADDRESS', 'Deployed program. Defaults to the registry configured for the solana chain'),
      text('url', 'URL', `RPC of the cluster. Defaults to ${DEFAULT_URL}`),
    ],
    isLocal: true,
    run: deployPlan,
  },
]
