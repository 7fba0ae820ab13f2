// Enforces a policy on chain with viem: deploys a registry, registers the service's attester, deploys a guarded
// contract, binds it to the project, requests an attestation and uses it. Prints each step. Needs the running service
// and an EVM node for a chain of the service, for example
//
//   anvil --chain-id 11155111
//   set -a; . ./data/quickstart.env; set +a
//   CHAIN=sepolia RPC_URL=http://127.0.0.1:8545 PRIVATE_KEY=0x… bun docs/examples/deploy-and-use.ts
import { createCountersignClient } from '@countersign/client'
import { attestationArgument, evmAttestedCall } from '@countersign/client/evm-arguments'
import { verifyEvmAttestation } from '@countersign/client/evm-attestation'
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { loadContracts } from '../../contracts/build.ts'

const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

const account = privateKeyToAccount(setting('PRIVATE_KEY') as Hex)
const transport = http(setting('RPC_URL'))
const node = createPublicClient({ transport, pollingInterval: 250 })
const wallet = createWalletClient({ account, transport })
const contracts = await loadContracts()
const verificationHash = setting('VERIFICATION_HASH')
const chain = setting('CHAIN')

const mined = async (hash: Hex) => {
  const receipt = await node.waitForTransactionReceipt({ hash })
  if (receipt.status !== 'success') throw new Error(`transaction ${hash} reverted`)
  return receipt
}
const deploy = async (name: string, args: readonly unknown[]): Promise<Hex> => {
  const { abi, bytecode } = contracts[name]!
  const { contractAddress } = await mined(await wallet.deployContract({ chain: null, abi, bytecode, args }))
  console.log(`${name} is at ${contractAddress}`)
  return contractAddress!
}

// 1. Deploy a registry, which stores the trusted attesters.
const registry = await deploy('PolicyRegistry', [account.address])
const registryAbi = contracts['PolicyRegistry']!.abi
await mined(
  await wallet.writeContract({
    chain: null,
    address: registry,
    abi: registryAbi,
    functionName: 'registerAttester',
    args: [setting('EVM_ATTESTER')],
  }),
)

// 2. Deploy a contract that asks the registry before it acts. Its policy id is the project's verification hash.
const vault = await deploy('GuardedVault', [account.address, registry, verificationHash])

// 3. Bind the contract to the project.
const bound = Bun.spawnSync(
  [
    'bun',
    'run',
    'countersign',
    'binding',
    'create',
    '--project',
    verificationHash,
    '--chain',
    chain,
    '--address',
    vault,
  ],
  { stdout: 'ignore', stderr: 'inherit' },
)
if (bound.exitCode !== 0) throw new Error('the contract could not be bound to the project')
console.log(`${vault} on ${chain} belongs to the project`)

// 4. Request an attestation. It is valid for one call: this sender, contract, value and arguments, once, for five
// minutes.
const client = createCountersignClient({
  attestationUrl: setting('ATTESTATION_URL'),
  attestationApiKey: setting('ATTESTATION_API_KEY'),
})
const value = 5n
const data = encodeFunctionData({
  abi: parseAbi(['function _deposit(address beneficiary)']),
  args: [account.address],
})
const request = { chain, from: account.address, to: vault, data, msgValue: value }
const answer = await client.attest(request)
if (!answer.isCompliant) throw new Error(`denied: ${answer.reason?.message}`)
const genuine = await verifyEvmAttestation(
  evmAttestedCall(request, answer, await node.getChainId()),
  answer.attestation,
)
console.log(`attested by ${answer.attestation.attester}, which checks out offline: ${genuine}`)

// 5. Use the attestation. A second use fails.
const deposit = {
  account,
  address: vault,
  value,
  functionName: 'deposit',
  abi: [...contracts['GuardedVault']!.abi, ...registryAbi.filter(({ type }) => type === 'error')],
  args: [account.address, attestationArgument(answer.attestation)],
}
const { gasUsed } = await mined(await wallet.writeContract({ ...deposit, chain: null }))
console.log(`deposited ${value} wei for ${gasUsed} gas`)
const refusal = await node.simulateContract(deposit).then(
  () => 'nothing: it was accepted again',
  (error: unknown) => {
    const revert =
      error instanceof BaseError ? error.walk((cause) => cause instanceof ContractFunctionRevertedError) : null
    return revert instanceof ContractFunctionRevertedError ? revert.data?.errorName : String(error)
  },
)
console.log(`the same attestation again: ${refusal}`)
