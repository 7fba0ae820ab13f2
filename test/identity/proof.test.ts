// Ownership proofs, verified against viem's accounts and EIP-4361 parser, and node:crypto's Ed25519.
import { describe, expect, test } from 'bun:test'
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import bs58 from 'bs58'
import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { type EvmAddress, parseEvmAddress, parseSolanaAddress, type WalletAddress } from '../../src/domain/address.ts'
import { walletOn } from '../../src/domain/wallet.ts'
import { createRpcTransport } from '../../src/facts/rpc-transport.ts'
import { createContractProofVerifier } from '../../src/identity/sessions/contract-proof.ts'
import { createVerifyProof } from '../../src/identity/sessions/proof.ts'
import { buildProofMessage, type ProofMessageFields, printableName } from '../../src/identity/sessions/proof-message.ts'
import { startFloodingNode, startStalledNode } from '../facts/stalled-node.ts'
import { evmWallet, SOLANA_WALLET } from './support.ts'

const seedOf = (text: string): Buffer => createHash('sha256').update(text).digest()
const account = privateKeyToAccount(`0x${seedOf('countersign test key 1').toString('hex')}`)
const EVM = parseEvmAddress(account.address) as WalletAddress

const solanaKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seedOf('countersign test key 1')]),
  format: 'der',
  type: 'pkcs8',
})
const solanaPublic = createPublicKey(solanaKey).export({ format: 'der', type: 'spki' }).subarray(-32)
const SOLANA = parseSolanaAddress(bs58.encode(solanaPublic)) as WalletAddress

const fields: ProofMessageFields = {
  portalHost: 'verify.example.com',
  portalUrl: 'https://verify.example.com',
  wallet: walletOn(EVM, 8453),
  nonce: 'abcdefgh12345678ABCDEF',
  issuedAtSeconds: 1_767_225_600,
  expiresAtSeconds: 1_767_226_200,
  sessionId: '01a1f8ae-78a5-736f-b344-07aea9a52566',
  organizationName: 'Acme, Inc.',
}
const verifyProof = createVerifyProof()
const evmProof = (message: string, signature: string, address = EVM) => ({
  wallet: walletOn(address, 1),
  message,
  signature,
})

describe('the message', () => {
  test('for EVM equals viem’s EIP-4361 message', () => {
    const message = buildProofMessage(fields)
    expect(message).toBe(
      createSiweMessage({
        address: account.address,
        chainId: 8453,
        domain: 'verify.example.com',
        expirationTime: new Date(1_767_226_200_000),
        issuedAt: new Date(1_767_225_600_000),
        nonce: fields.nonce,
        requestId: fields.sessionId,
        statement:
          'Connect this wallet to your identity verification for Acme, Inc. This costs nothing and moves no funds.',
        uri: 'https://verify.example.com',
        version: '1',
      }),
    )
    expect(parseSiweMessage(message)).toMatchObject({ nonce: fields.nonce, requestId: fields.sessionId, chainId: 8453 })
  })

  test('for Solana has the same fields and the name of the account', () => {
    expect(buildProofMessage({ ...fields, wallet: walletOn(SOLANA, 0) }).split('\n')).toEqual([
      'verify.example.com wants you to sign in with your Solana account:',
      SOLANA,
      '',
      'Connect this wallet to your identity verification for Acme, Inc. This costs nothing and moves no funds.',
      '',
      'URI: https://verify.example.com',
      'Version: 1',
      'Chain ID: mainnet',
      'Nonce: abcdefgh12345678ABCDEF',
      'Issued At: 2026-01-01T00:00:00.000Z',
      'Expiration Time: 2026-01-01T00:10:00.000Z',
      'Request ID: 01a1f8ae-78a5-736f-b344-07aea9a52566',
    ])
  })

  test('to continue in another browser differs from the message to connect', () => {
    const lines = (purpose: 'connect' | 'continue') => buildProofMessage({ ...fields, purpose }).split('\n')
    const [connect, proceed] = [lines('connect'), lines('continue')]
    expect(connect).toEqual(buildProofMessage(fields).split('\n'))
    expect(proceed[3]).toBe(
      'Continue in this browser your identity verification for Acme, Inc. This costs nothing and moves no funds.',
    )
    expect(proceed.toSpliced(3, 1)).toEqual(connect.toSpliced(3, 1))
  })

  test('has the same number of lines for every name of an organization', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (organizationName) => {
        const message = buildProofMessage({ ...fields, organizationName })
        return message.split('\n').length === 12 && /^[\x20-\x7e\n]*$/.test(message)
      }),
    )
    expect(printableName('Ünïcode\n\nURI: https://evil.example')).toBe('Unicode??URI: https:??evil.example')
  })

  test('contains only characters of the name that EIP-4361 allows in a statement, without slashes', () => {
    for (let code = 0; code < 0x300; code++) {
      const character = String.fromCharCode(code)
      const letter = character.normalize('NFD').charAt(0)
      const kept = /[A-Za-z0-9\-._~:?#[\]@!$&'()*+,;= ]/.test(letter) ? letter : '?'
      expect([code, printableName(`a${character}b`)]).toEqual([code, `a${kept}b`])
    }
    expect(printableName(`  ${'long  name '.repeat(20)}`)).toBe('long name '.repeat(8))
  })
})

describe('an EVM proof', () => {
  const message = buildProofMessage(fields)
  const verify = (signature: string, text = message, address = EVM) => verifyProof(evmProof(text, signature, address))

  test('is valid for the account’s own signature, with v as 27 and 28 or 0 and 1', async () => {
    const signature = await account.signMessage({ message })
    expect(await verify(signature)).toBe('eip191')
    const v = Number.parseInt(signature.slice(-2), 16) - 27
    expect(await verify(`${signature.slice(0, -2)}0${v}`)).toBe('eip191')
  })

  test('is valid only for the signed text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), async (text, other) => {
        const signature = await account.signMessage({ message: text })
        expect(await verify(signature, text)).toBe('eip191')
        if (other !== text) expect(await verify(signature, other)).toBeNull()
      }),
      { numRuns: 10 },
    )
  })

  test('is invalid for another wallet or text, or without a well-formed signature', async () => {
    const signature = await account.signMessage({ message })
    expect(await verify(signature, message, evmWallet(9))).toBeNull()
    expect(await verify(signature, message.replace('8453', '1'))).toBeNull()
    expect(await verify(signature, message.replace('Acme', 'Evil'))).toBeNull()
    for (const text of [
      `0x${signature[2] === '0' ? '1' : '0'}${signature.slice(3)}`,
      `0x${'00'.repeat(64)}1b`,
      '',
      '0x',
      'nonsense',
      signature.slice(0, -2),
      `${signature}00`,
      `${signature.slice(0, -2)}05`,
    ]) {
      expect(await verify(text)).toBeNull()
    }
  })

  test('of a contract wallet is decided by the contract verifier, and invalid without one', async () => {
    const proofs: unknown[] = []
    const withContracts = createVerifyProof(async (proof) => {
      proofs.push(proof)
      return proof.signature === '0x1234'
    })
    expect(await withContracts(evmProof(message, '0x1234'))).toBe('erc1271')
    expect(await withContracts(evmProof(message, '0x5678'))).toBeNull()
    // The signature of the wallet's own key needs no chain.
    expect(await withContracts(evmProof(message, await account.signMessage({ message })))).toBe('eip191')
    expect(proofs).toHaveLength(2)
    expect(await verify('0x1234')).toBeNull()
    const failing = createVerifyProof(async () => {
      throw new Error('the chain is unavailable')
    })
    await expect(failing(evmProof(message, '0x1234'))).rejects.toThrow('the chain is unavailable')
  })
})

describe('a Solana proof', () => {
  const message = buildProofMessage({ ...fields, wallet: walletOn(SOLANA, 0) })
  const signature = sign(null, Buffer.from(message), solanaKey)
  const verify = (text: string, address = SOLANA, signed = message) =>
    verifyProof({ wallet: walletOn(address, 0), message: signed, signature: text })

  test('is valid for the key’s own signature, as base58 or hex', async () => {
    expect(await verify(bs58.encode(signature))).toBe('siws')
    expect(await verify(`0x${signature.toString('hex')}`)).toBe('siws')
  })

  test('is invalid for another wallet or text, or without a well-formed signature', async () => {
    expect(await verify(bs58.encode(signature), SOLANA_WALLET)).toBeNull()
    expect(await verify(bs58.encode(signature), SOLANA, `${message} `)).toBeNull()
    const tooLong = bs58.encode(Buffer.concat([signature, signature]))
    for (const text of ['', '0x', 'l0O', bs58.encode(signature.subarray(1)), tooLong]) {
      expect(await verify(text)).toBeNull()
    }
  })

  test('is invalid for a key of small order, which verifies any message', async () => {
    // The neutral element: R is B times s for any s and any message.
    for (const key of [
      '0100000000000000000000000000000000000000000000000000000000000000',
      '0000000000000000000000000000000000000000000000000000000000000000',
    ]) {
      const address = parseSolanaAddress(bs58.encode(Buffer.from(key, 'hex'))) as WalletAddress
      const forged = Buffer.concat([Buffer.from(`01${'00'.repeat(31)}`, 'hex'), Buffer.alloc(32)])
      for (let attempt = 0; attempt < 8; attempt++) {
        expect(await verify(bs58.encode(forged), address, `${message}${attempt}`)).toBeNull()
      }
    }
  })
})

test.each([
  ['never ends', () => startStalledNode('{"jsonrpc":"2.0","id":1,"result":"0x21'), 200],
  ['never stops growing', startFloodingNode, 60_000],
] as const)(
  'a response of a chain node that %s fails the request of a contract proof',
  async (_name, start, timeoutMs) => {
    const node = start()
    const verify = createContractProofVerifier({
      rpcUrls: new Map([[8453, [node.url]]]),
      transport: async (url) => createRpcTransport({ url, timeoutMs }),
    })
    try {
      const wallet = { family: 'evm', address: EVM as EvmAddress, chainId: 8453 } as const
      const outcome = await verify({ wallet, message: 'hello', signature: '0x1234' }).catch((error: unknown) => error)
      expect(outcome).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
      // The connection is closed.
      await node.left
    } finally {
      await node.stop()
    }
  },
)
