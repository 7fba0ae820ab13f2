// The attestations of a running service, checked offline by the client. Its calls and errors over a running service:
// test/clients, whose scenarios all clients run.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AttestationRequest, CompliantAnswer } from '../../src/client/attestation-types.ts'
import { type CountersignClient, createCountersignClient } from '../../src/client/client.ts'
import { EVM_CHAIN_IDS, evmAttestedCall } from '../../src/client/evm-arguments.ts'
import { verifyEvmAttestation } from '../../src/client/evm-attestation.ts'
import { solanaAttestedCall, verifySolanaAttestation } from '../../src/client/solana-attestation.ts'
import { type RunningService, startService } from '../service/start-service.ts'

const WALLET = '0x1111111111111111111111111111111111111111'
const SOLANA_WALLET = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'

let service: RunningService
let client: CountersignClient
let settings: Readonly<Record<string, string>>

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  settings = service.quickstart
  client = createCountersignClient({
    attestationUrl: settings['ATTESTATION_URL'],
    attestationApiKey: settings['ATTESTATION_API_KEY'],
    retry: { tries: 1 },
  })
})
afterAll(async () => {
  await service.stop()
})

const attest = async (request: AttestationRequest): Promise<CompliantAnswer> => {
  const answer = await client.attest(request)
  if (!answer.isCompliant) throw new Error('denied')
  return answer
}

describe('an attestation', () => {
  test('on every EVM chain gives what verifies offline, for a contract and for a project', async () => {
    for (const chain of Object.keys(EVM_CHAIN_IDS)) {
      for (const request of [
        { chain, from: WALLET, to: settings['DEMO_CONTRACT'] ?? '', data: '0xa9059cbb', msgValue: 10n ** 18n },
        { chain, from: WALLET, verificationHash: settings['VERIFICATION_HASH'] ?? '' },
      ]) {
        const answer = await attest(request)
        const call = evmAttestedCall(request, answer)
        expect(answer.attestation.attester).toBe(settings['EVM_ATTESTER'] ?? '')
        expect(await verifyEvmAttestation(call, answer.attestation)).toBe(true)
        expect(await verifyEvmAttestation({ ...call, wei: 1n }, answer.attestation)).toBe(false)
      }
    }
  })

  test('on Solana gives what verifies offline, for a program and for a project', async () => {
    for (const request of [
      { chain: 'solana', from: SOLANA_WALLET, to: settings['DEMO_PROGRAM'] ?? '', data: '0x07', msgValue: 5n },
      { chain: 'solana', from: SOLANA_WALLET, verificationHash: settings['VERIFICATION_HASH'] ?? '' },
    ]) {
      const answer = await attest(request)
      const call = solanaAttestedCall(request, answer)
      expect(answer.attestation.attester).toBe(settings['SOLANA_ATTESTER'] ?? '')
      expect(verifySolanaAttestation(call, answer.attestation)).toBe(true)
      expect(verifySolanaAttestation({ ...call, lamports: 6n }, answer.attestation)).toBe(false)
    }
  })

  test('of a batch each verifies offline', async () => {
    const verificationHash = settings['VERIFICATION_HASH'] ?? ''
    const evm = { chain: 'base', from: WALLET, to: settings['DEMO_CONTRACT'] ?? '', data: '0xa9059cbb', msgValue: 7n }
    const solana = { chain: 'solana', from: SOLANA_WALLET, verificationHash }
    const [call, program] = (await client.attestMany([evm, solana])).map((result) => {
      if (!result.ok || !result.answer.isCompliant) throw new Error('denied')
      return result.answer
    })
    expect(await verifyEvmAttestation(evmAttestedCall(evm, call!), call!.attestation)).toBe(true)
    expect(verifySolanaAttestation(solanaAttestedCall(solana, program!), program!.attestation)).toBe(true)
  })
})
