// The main thread's work before a request becomes a job: checking the key and decoding the body.
import { decodeAttestationRequest } from '../../src/attestation/decode-attestation.ts'
import { hashApiKey, mintApiKey, SCOPES_BY_KIND } from '../../src/domain/api-key.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createAuthenticator } from '../../src/server/authenticate.ts'
import { parseStrictJsonObject } from '../../src/server/strict-json.ts'
import { bodyText } from '../load/requests.ts'
import { EXAMPLES, EXPIRATION_SECONDS, examples } from './example.ts'
import type { StageBenchmark } from './harness.ts'

const keyStage: StageBenchmark = {
  name: 'key',
  description: 'API key: parse, look up, compare',
  async prepare() {
    const { text, keyId, kind, environment } = mintApiKey('attestation', 'live')
    const authenticator = createAuthenticator({
      clock: systemClock,
      findKey: async () => ({
        keyId,
        kind,
        environment,
        organizationId: 'org_0123456789abcdef',
        scopes: SCOPES_BY_KIND[kind],
        name: 'bench',
        createdAtSeconds: 0,
        expiresAtSeconds: null,
        revokedAtSeconds: null,
        lastUsedAtSeconds: null,
        replacedByKeyId: null,
        rateLimit: null,
        hash: hashApiKey(text),
      }),
    })
    const owner = { lookupOwner: () => '' }
    await authenticator.authenticate(text, 'attestation', owner)
    return {
      async run(iterations) {
        for (let i = 0; i < iterations; i++) {
          const principal = authenticator.authenticate(text, 'attestation', owner)
          if (principal instanceof Promise) await principal
        }
      },
    }
  },
}

const decodeStage: StageBenchmark = {
  name: 'decode',
  description: 'decoding: UTF-8, strict JSON, fields',
  prepare() {
    const chains = createChainTable()
    const bodies = examples.map(({ body }) => Buffer.from(bodyText(body)))
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return {
      run(iterations) {
        for (let i = 0; i < iterations; i++) {
          decodeAttestationRequest(
            parseStrictJsonObject(decoder.decode(bodies[i % EXAMPLES]!)),
            chains,
            EXPIRATION_SECONDS - 300,
          )
        }
      },
    }
  },
}

export const stages: readonly StageBenchmark[] = [keyStage, decodeStage]
