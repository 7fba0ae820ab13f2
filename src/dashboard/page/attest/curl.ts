// Builds curl commands for the attestation API, quoted for a POSIX shell.
import { ATTESTATION_PATHS } from '../../../attestation/paths.ts'

export const KEY_PLACE = '$ATTESTATION_API_KEY'

/** Fields that a policy may require of all callers, with example values. */
const EXAMPLES = { data: '0x', msg_value: '0', user_ip: '203.0.113.7' } as const
export type CallField = keyof typeof EXAMPLES
export type CallFields = Readonly<Partial<Record<CallField, string>>>

/** Replaces empty and missing fields with examples. @param requires fields without which the response is 400 */
export const callFields = (requires: readonly string[], typed: CallFields): CallFields =>
  Object.fromEntries(
    (Object.keys(EXAMPLES) as CallField[])
      .filter((field) => requires.includes(field))
      .map((field) => [field, typed[field]?.trim() || EXAMPLES[field]]),
  )

interface CurlOptions {
  readonly apiUrl: string
  readonly apiKey: string | null
  readonly verificationHash: string
  readonly chain: string
  readonly wallet: string
  readonly fields?: CallFields
}

/** Encodes typed values as JSON, then quotes them for the shell. */
export const curlFor = ({ apiUrl, apiKey, verificationHash, chain, wallet, fields }: CurlOptions): string => {
  const call = { from: wallet, chain, verification_hash: verificationHash, ...fields }
  const body = JSON.stringify(call).replaceAll("'", "'\\''")
  return [
    `curl -s ${apiUrl}${ATTESTATION_PATHS.attestation.path} \\`,
    `  -H "x-api-key: ${apiKey ?? KEY_PLACE}" \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n')
}
