// A call of the attestation API as a command for a POSIX shell, with every field that the policy asks of its callers.
import { ATTESTATION_PATHS } from '../../../attestation/paths.ts'

/** Where the key stands while it is not known. */
export const KEY_PLACE = '$ATTESTATION_API_KEY'

/** The fields that a policy may ask of every caller, each with a value that the API takes. */
const EXAMPLES = { data: '0x', msg_value: '0', user_ip: '203.0.113.7' } as const
export type CallField = keyof typeof EXAMPLES
export type CallFields = Readonly<Partial<Record<CallField, string>>>

/**
 * @param requires what the policy asks of every caller: without one of them the answer is 400
 * @param typed an empty or missing one is filled with its example
 */
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

/** For a POSIX shell. What people typed is JSON first, and then quoted for the shell. */
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
