// The example vault on a Solana machine: it pays only with a valid attestation of the wallet, and, if the call is bound, of
// the amount and recipient (threats row 43).
import { beforeEach, expect, test } from 'bun:test'
import { type Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { solanaMessage } from '../../src/client/solana-attestation.ts'
import { ed25519Instruction } from '../../src/client/solana-instructions.ts'
import {
  initializeRegistryInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
} from '../../src/client/solana-registry.ts'
import {
  initializeVaultInstruction,
  vaultOf,
  type Withdrawal,
  withdrawalCall,
  withdrawInstruction,
} from './solana-vault-calls.ts'
import {
  attest,
  createSolanaWorld,
  deploymentOf,
  errorOf,
  expectExactLengths,
  keypair,
  loadProgram,
  POLICY,
  type SolanaWorld,
  START_SECONDS,
  withAccount,
} from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const LATER = START_SECONDS + 300
const HELD = 10_000_000_000n
const NOT_THIS_SIGNATURE = 6011
const UNAUTHORIZED = 6002

for (const bindsCall of [false, true]) {
  describeOnSvm(`the example vault, ${bindsCall ? 'with a bound call' : 'with a bound wallet'}`, () => {
    let world: SolanaWorld
    let program: PublicKey
    const recipient = keypair(170).publicKey
    const other = keypair(171)
    beforeEach(() => {
      world = createSolanaWorld()
      const { targetDeployment, registry, user, svm } = world
      program = targetDeployment.program.publicKey
      const { authority } = targetDeployment
      world.must(initializeVaultInstruction(program, authority.publicKey, registry, bindsCall), authority)
      for (const { publicKey } of [user, other]) svm.give(vaultOf(program, publicKey), HELD)
      svm.give(other.publicKey, HELD)
    })

    const withdrawal = (changes: Partial<Withdrawal> = {}): Withdrawal => ({
      owner: world.user.publicKey,
      recipient,
      lamports: 1_000_000_000n,
      ...changes,
    })
    const attestWithdrawal = (vault: PublicKey, requested: Withdrawal, bound: boolean, key: number) => {
      const call = withdrawalCall(vault, POLICY, requested, bound)
      const attestation = attest(call, world.nextUuid(), LATER, key)
      return { attestation, check: ed25519Instruction(attestation, solanaMessage(call, attestation)) }
    }
    /** Returns the check of an attestation for one withdrawal, and withdrawals with it. */
    const attested = (requested: Withdrawal, bound = bindsCall) => {
      const { attestation, check } = attestWithdrawal(program, requested, bound, 140)
      return { check, withdraw: (done: Withdrawal) => withdrawInstruction(program, world.registry, done, attestation) }
    }
    const run = (instructions: TransactionInstruction[], signer: Keypair = world.user) =>
      errorOf(world.svm.run(instructions, [signer]))
    const held = (owner = world.user.publicKey) => BigInt(world.svm.account(vaultOf(program, owner))?.lamports ?? 0)

    test('pays once per attestation', () => {
      const requested = withdrawal()
      const { check, withdraw } = attested(requested)
      expect(run([withdraw(requested)])).toBe(NOT_THIS_SIGNATURE)
      expect(run([check, withdraw(requested), withdraw(requested)])).toBe(NOT_THIS_SIGNATURE)
      expect(run([check, withdraw(requested)])).toBeNull()
      expect([held(), BigInt(world.svm.account(recipient)!.lamports)]).toEqual([
        HELD - requested.lamports,
        requested.lamports,
      ])
      expect(run([check, withdraw(requested)])).toBe(6016)
    })

    test(`${bindsCall ? 'refuses' : 'accepts'} another amount or recipient`, () => {
      const outcome = bindsCall ? NOT_THIS_SIGNATURE : null
      for (const changes of [{ lamports: 1_000_000_001n }, { recipient: other.publicKey }]) {
        const { check, withdraw } = attested(withdrawal())
        expect(run([check, withdraw(withdrawal(changes))])).toBe(outcome)
      }
    })

    test('refuses an attestation for the other binding', () => {
      const { check, withdraw } = attested(withdrawal(), !bindsCall)
      expect(run([check, withdraw(withdrawal())])).toBe(NOT_THIS_SIGNATURE)
    })

    test('pays only from the vault of the attested wallet', () => {
      const { check, withdraw } = attested(withdrawal())
      const theirs = vaultOf(program, other.publicKey)
      expect(run([check, withAccount(withdraw(withdrawal()), 1, theirs)])).toBe(2006)
      // Another wallet signs with the attestation.
      const asOther = withdrawal({ owner: other.publicKey })
      expect(run([check, withdraw(asOther)], other)).toBe(NOT_THIS_SIGNATURE)
      const { keys } = withdraw(withdrawal())
      const unsigned = keys.map((key) => ({ ...key, isSigner: false }))
      const instruction = new TransactionInstruction({ ...withdraw(withdrawal()), keys: unsigned })
      expect(run([check, instruction])).toMatch(/MissingRequired/)
      expect([held(), held(other.publicKey)]).toEqual([HELD, HELD])
    })

    test('accepts only its registry', () => {
      const foreignRegistry = deploymentOf(160)
      world.svm.give(foreignRegistry.authority.publicKey, HELD)
      world.svm.addProgram(
        foreignRegistry.program.publicKey,
        loadProgram('registry'),
        foreignRegistry.authority.publicKey,
      )
      const registry = foreignRegistry.program.publicKey.toBase58()
      const authority = foreignRegistry.authority.publicKey.toBase58()
      world.must(initializeRegistryInstruction(registry, authority), foreignRegistry.authority)
      world.must(
        registerAttesterInstruction(registry, authority, keypair(143).publicKey.toBase58()),
        foreignRegistry.authority,
      )
      const { authority: upgrader } = world.targetDeployment
      const change = { target: program.toBase58(), authority: upgrader.publicKey.toBase58() }
      world.must(setPolicyInstruction(registry, change, POLICY), upgrader)
      const { attestation, check } = attestWithdrawal(program, withdrawal(), bindsCall, 143)
      const foreign = withdrawInstruction(program, registry, withdrawal(), attestation)
      expect(run([check, foreign])).toBe(6200)
      // The configured program with the accounts of the other program.
      expect(run([check, withAccount(foreign, 3, new PublicKey(world.registry))])).toBe(6005)
      const config = world.svm.account(foreign.keys[0]!.pubkey)!
      const forged = Buffer.from(config.data)
      forged.set(foreignRegistry.program.publicKey.toBytes(), 8)
      const copy = keypair(172).publicKey
      world.svm.setAccount(copy, { ...config, data: forged, owner: foreignRegistry.program.publicKey })
      expect(run([check, withAccount(foreign, 0, copy)])).toBe(6005)
      expect(held()).toBe(HELD)
    })

    test('is initialized once, by the upgrade authority', () => {
      const { authority } = world.targetDeployment
      const again = initializeVaultInstruction(program, authority.publicKey, world.target, bindsCall)
      expect(run([again], authority)).toBe(6004)
      const byOther = initializeVaultInstruction(program, other.publicKey, world.target, bindsCall)
      expect(run([byOther], other)).toBe(UNAUTHORIZED)
    })

    test('pays nothing before it is initialized', () => {
      const vault = world.deploy('vault').program.publicKey
      const { attestation, check } = attestWithdrawal(vault, withdrawal(), bindsCall, 140)
      world.svm.give(vaultOf(vault, world.user.publicKey), HELD)
      expect(run([check, withdrawInstruction(vault, world.registry, withdrawal(), attestation)])).toBe(6005)
      expect(held()).toBe(HELD)
    })

    test('refuses truncated or trailing data, and fewer accounts', () => {
      const requested = withdrawal()
      const { check, withdraw } = attested(requested)
      const whole = withdraw(requested)
      expectExactLengths(whole, (changed) => run([check, changed]))
      expect(run([check, withAccount(whole, 9, SystemProgram.programId)])).toBeNull()
    })
  })
}
