// A call of the attestation API as a command for a POSIX shell.

/** Where the key stands while it is not known. */
export const KEY_PLACE = '$ATTESTATION_API_KEY'

interface CurlOptions {
  readonly apiUrl: string
  readonly apiKey: string | null
  readonly verificationHash: string
  readonly chain: string
  readonly wallet: string
}

/** For a POSIX shell. What people typed is JSON first, and then quoted for the shell. */
export const curlFor = ({ apiUrl, apiKey, verificationHash, chain, wallet }: CurlOptions): string => {
  const body = JSON.stringify({ from: wallet, chain, verification_hash: verificationHash }).replaceAll("'", "'\\''")
  return [
    `curl -s ${apiUrl}/v2/attestation \\`,
    `  -H "x-api-key: ${apiKey ?? KEY_PLACE}" \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n')
}
