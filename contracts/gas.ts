// `bun contracts/gas.ts`: prints the gas of each guarded call as the Markdown table of docs/contracts.md; with --write,
// updates the table there. Uses a local node with fixed time, uuids and keys, so that equal sources give equal numbers.
import { encodeFunctionData, type Hex } from 'viem'
import { encodeInternal, statementArgument, taskMessage, testAttester } from '../test/chain/attesting.ts'
import { type Deployed, type LocalChain, startLocalChain } from '../test/chain/local-chain.ts'
import { numberTable, showTable } from './page-table.ts'

const CHAIN_ID = 8453
const START_SECONDS = 2_000_000_000
const POLICY = 'x-0123456789abcdef'
const SUPPLY = 10n ** 24n
const TIMESTAMP = 1
/** The first calls pay for balances that become nonzero; the last call shows the usual cost. */
const REPETITIONS = 3

const attesters = [1, 2, 3].map(testAttester)

const uuidOf = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`

/**
 * Gas of the public registry contract (predicatelabs/predicate-contracts 6130aa4) for the same calls on the same node,
 * compiled by solc 0.8.28 with the same settings and OpenZeppelin 5.4.0. Measured once by hand, because its license
 * does not permit including its source in this repository.
 */
const PUBLIC_CONTRACT_GAS: Readonly<Record<string, number>> = {
  'validateAttestation, sender only': 65_046,
  'validateAttestation, sender only, behind a proxy': 70_066,
  'validateAttestation, whole call': 65_767,
  'validateAttestation, whole call, behind a proxy': 70_805,
}

interface Measured {
  readonly name: string
  readonly gas: number
}

const measure = async (chain: LocalChain): Promise<Measured[]> => {
  const [owner, user] = chain.accounts as [Hex, Hex]
  const expirationSeconds = START_SECONDS + 3_600
  let statements = 0
  await chain.setNextTimestamp(START_SECONDS)

  const registered = async (to: Deployed): Promise<Deployed> => {
    for (const { address } of attesters) await chain.send({ to, name: 'registerAttester', arguments: [address] })
    return to
  }
  const fixed = await registered(await chain.deploy('PolicyRegistry', owner))
  const implementation = await chain.deploy('PolicyRegistryUpgradeable')
  const { abi } = implementation
  const initialization = encodeFunctionData({ abi, functionName: 'initialize', args: [owner] })
  const { address } = await chain.deploy('ERC1967Proxy', implementation.address, initialization)
  const proxied = await registered({ address, abi })
  const verifier = await registered(await chain.deploy('TaskVerifier', owner, TIMESTAMP))

  const statement = (from: Hex, to: Hex, value: bigint, data: Hex) => {
    statements += 1
    const uuid = uuidOf(statements)
    return { chainId: CHAIN_ID, uuid, from, to, value, data, policy: POLICY, expirationSeconds }
  }
  const last = async (name: string, send: () => ReturnType<LocalChain['send']>): Promise<Measured> => {
    let gas = 0
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      const { gasUsed, reverted } = await send()
      if (reverted !== null) throw new Error(`${name} reverted: ${reverted}`)
      gas = gasUsed
    }
    return { name, gas }
  }

  const validation = (name: string, to: Deployed, data: Hex) =>
    last(name, () => {
      const signed = statement(user, user, 0n, data)
      const values = [statementArgument(signed), attesters[0]!.attest(signed)]
      return chain.send({ to, name: 'validateAttestation', arguments: values, from: user })
    })
  const deposit = async (contract: string, registry: Deployed, data: Hex, signedValue: bigint, suffix: string) => {
    const to = await chain.deploy(contract, owner, registry.address, POLICY)
    return last(`${contract}.deposit${suffix}`, () => {
      const attestation = attesters[0]!.attest(statement(user, to.address, signedValue, data))
      return chain.send({ to, name: 'deposit', arguments: [user, attestation], from: user, value: 5n })
    })
  }
  const transfer = async (contract: string, registry: Deployed, data: Hex, suffix: string) => {
    const to = await chain.deploy(contract, owner, registry.address, POLICY, SUPPLY)
    return last(`${contract}.transfer${suffix}`, () => {
      const attestation = attesters[0]!.attest(statement(owner, to.address, 0n, data))
      return chain.send({ to, name: 'transfer', arguments: [user, 5n, attestation] })
    })
  }
  const depositData = encodeInternal('_deposit(address)', ['address', user])
  const transferData = encodeInternal('_transfer(address,uint256)', ['address', user], ['uint256', 5n])
  const behindProxy = ', registry behind a proxy'
  const tasks: Measured[] = []
  for (const quorum of [1, 2, 3]) {
    const to = await chain.deploy('TaskGuardedVault', owner, verifier.address, POLICY, quorum)
    const measured = await last(`TaskGuardedVault.deposit, quorum ${quorum}`, () => {
      const { uuid: taskId, from, to: target, value, data } = statement(user, to.address, 5n, depositData)
      const task = { taskId, from, to: target, value, data, policy: POLICY, quorum, expiry: expirationSeconds }
      const message = taskMessage(task, attesters.slice(0, quorum))
      return chain.send({ to, name: 'deposit', arguments: [user, message], from: user, value: 5n })
    })
    tasks.push(measured)
  }
  return [
    await validation('validateAttestation, sender only', fixed, '0x'),
    await validation('validateAttestation, sender only, behind a proxy', proxied, '0x'),
    await validation('validateAttestation, whole call', fixed, transferData),
    await validation('validateAttestation, whole call, behind a proxy', proxied, transferData),
    await deposit('BasicGuardedVault', fixed, '0x', 0n, ''),
    await deposit('GuardedVault', fixed, depositData, 5n, ''),
    await transfer('BasicGuardedToken', fixed, '0x', ''),
    await transfer('GuardedToken', fixed, transferData, ''),
    await transfer('GuardedToken', proxied, transferData, behindProxy),
    ...tasks,
  ]
}

const digits = (gas: number | undefined): string => gas?.toLocaleString('en-US') ?? ''

/** Returns the table, measured on a node that is started for it. */
export const gasTable = async (): Promise<string> => {
  const chain = await startLocalChain(CHAIN_ID)
  try {
    const measured = await measure(chain)
    const rows = measured.map(({ name, gas }) => [name, digits(gas), digits(PUBLIC_CONTRACT_GAS[name])])
    return numberTable(['Call', 'Gas', 'Gas, public contract'], rows)
  } finally {
    await chain.stop()
  }
}

if (import.meta.main) showTable('gas', await gasTable())
