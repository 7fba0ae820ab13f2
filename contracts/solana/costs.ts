// `bun contracts/solana/costs.ts`: prints compute units and rent of each instruction as the Markdown table of
// docs/contracts.md; with --write, updates it there. Fixed keys, uuids and time, so that equal programs give equal
// numbers.
import { PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { accountOf, programDataOf } from '../../src/client/solana-accounts.ts'
import { solanaMessage } from '../../src/client/solana-attestation.ts'
import { ed25519Instruction, solanaRegistryAccounts } from '../../src/client/solana-instructions.ts'
import {
  acceptAuthorityInstruction,
  closeSpentUuidInstruction,
  deregisterAttesterInstruction,
  initializeRegistryInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
  setPolicyOwnerInstruction,
  transferAuthorityInstruction,
  updatePolicyInstruction,
} from '../../src/client/solana-registry.ts'
import {
  initializeVaultInstruction,
  vaultOf,
  withdrawalCall,
  withdrawInstruction,
} from '../../test/chain/solana-vault-calls.ts'
import {
  attest,
  createSolanaWorld,
  deploymentOf,
  keypair,
  loadProgram,
  POLICY,
  START_SECONDS,
} from '../../test/chain/solana-world.ts'
import { numberTable, showTable } from '../page-table.ts'

const LATER = START_SECONDS + 300
/**
 * For every second uuid, the first attempt finds an address of its seeds. The minimum of this many uuids is the cost of
 * one attempt.
 */
const UUIDS = 12

const digits = (value: number | bigint): string => (Number(value) === 0 ? '' : value.toLocaleString('en-US'))

/** Returns the table, measured in a virtual machine within this process. */
export const solanaCostTable = (): string => {
  const world = createSolanaWorld()
  const { svm, registry, registryDeployment, target, targetDeployment, user } = world
  const { authority } = registryDeployment
  const upgrader = targetDeployment.authority
  const next = keypair(151)
  svm.give(next.publicKey, 10_000_000_000n)
  const key = (pair: typeof next): string => pair.publicKey.toBase58()
  const registryKey = new PublicKey(registry)
  const rentOf = (address: PublicKey): number => svm.account(address)?.lamports ?? 0
  const rows: string[][] = []
  const row = (name: string, units: number, rent: number): void => void rows.push([name, digits(units), digits(rent)])

  const programs = { registry: registryKey, 'example vault': new PublicKey(target) }
  for (const [name, program] of Object.entries(programs)) {
    const { length } = svm.account(programDataOf(program))!.data
    row(`the ${name} program itself, deployed`, 0, Number(svm.rentExemptLamports(length)))
  }

  const another = deploymentOf(160)
  svm.give(another.authority.publicKey, 10_000_000_000n)
  svm.addProgram(another.program.publicKey, loadProgram('registry'), another.authority.publicKey)
  const measure = (
    name: string,
    instruction: TransactionInstruction,
    signers: (typeof next)[],
    made?: PublicKey,
  ): void => {
    const { computeUnits } = world.must(instruction, ...signers)
    row(name, computeUnits, made === undefined ? 0 : rentOf(made))
  }
  const anotherRegistry = initializeRegistryInstruction(key(another.program), key(another.authority))
  const made = accountOf(another.program.publicKey, 'predicate_registry')
  measure('initialize', anotherRegistry, [another.authority], made)
  const attester = key(keypair(142))
  const attesterAccount = accountOf(registryKey, 'attester', keypair(142).publicKey.toBytes())
  measure(
    'register_attester',
    registerAttesterInstruction(registry, key(authority), attester),
    [authority],
    attesterAccount,
  )
  measure('deregister_attester', deregisterAttesterInstruction(registry, key(authority), attester), [authority])
  const fresh = { target: key(another.program), authority: key(another.authority) }
  const policyAccount = accountOf(registryKey, 'policy', another.program.publicKey.toBytes())
  measure('set_policy_id', setPolicyInstruction(registry, fresh, POLICY), [another.authority], policyAccount)
  measure('update_policy_id', updatePolicyInstruction(registry, fresh, POLICY), [another.authority])
  measure('set_policy_owner', setPolicyOwnerInstruction(registry, fresh, key(next)), [another.authority, next])
  measure('transfer_authority', transferAuthorityInstruction(registry, key(authority), key(next)), [authority])
  measure('accept_authority', acceptAuthorityInstruction(registry, key(next)), [next])

  const least = (run: (uuid: string) => number): number =>
    Math.min(...Array.from({ length: UUIDS }, () => run(world.nextUuid())))
  for (const [name, data] of [
    ['validate_attestation, sender only', '0x'],
    ['validate_attestation, 100 bytes of call data', `0x${'07'.repeat(100)}`],
  ] as const) {
    const call = world.call({ data, lamports: 0n })
    let rent = 0
    const units = least((uuid) => {
      const attestation = attest(call, uuid, LATER, 140)
      const { error, computeUnits } = world.spend(call, attestation)
      if (error !== null) throw new Error(error)
      rent = rentOf(solanaRegistryAccounts(registry, call, attestation).usedUuid)
      svm.setSeconds(BigInt(LATER + 31))
      world.must(closeSpentUuidInstruction(registry, uuid, key(user)))
      svm.setSeconds(BigInt(START_SECONDS))
      return computeUnits
    })
    row(name, units, rent)
  }
  const call = world.call()
  const spent = attest(call, world.nextUuid(), LATER, 140)
  world.spend(call, spent)
  svm.setSeconds(BigInt(LATER + 31))
  measure('cleanup_expired_uuid', closeSpentUuidInstruction(registry, spent.uuid, key(user)), [])
  svm.setSeconds(BigInt(START_SECONDS))

  for (const bindsCall of [false, true]) {
    // Each path has its own virtual machine, because a vault is initialized once.
    const own = createSolanaWorld()
    const program = own.targetDeployment.program.publicKey
    own.must(initializeVaultInstruction(program, upgrader.publicKey, registry, bindsCall), upgrader)
    own.svm.give(vaultOf(program, user.publicKey), 10_000_000_000n)
    const withdrawal = { owner: user.publicKey, recipient: next.publicKey, lamports: 1_000_000_000n / BigInt(UUIDS) }
    own.svm.give(next.publicKey, 10_000_000_000n)
    let rent = 0
    const units = least((uuid) => {
      const asked = withdrawalCall(program, POLICY, withdrawal, bindsCall)
      const attestation = attest(asked, uuid, LATER, 140)
      const check = ed25519Instruction(attestation, solanaMessage(asked, attestation))
      const { error, computeUnits } = own.svm.run(
        [check, withdrawInstruction(program, registry, withdrawal, attestation)],
        [user],
      )
      if (error !== null) throw new Error(error)
      rent = own.svm.account(solanaRegistryAccounts(registry, asked, attestation).usedUuid)!.lamports
      return computeUnits
    })
    row(`the example vault’s withdraw, ${bindsCall ? 'whole call' : 'sender only'}`, units, rent)
  }
  return numberTable(['Instruction', 'Compute units', 'Rent, lamports'], rows)
}

if (import.meta.main) showTable('solana costs', solanaCostTable())
