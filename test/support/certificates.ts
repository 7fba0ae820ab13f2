// Certificate authorities and server certificates for tests, created by openssl.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Reason for skipping tests that need openssl; null if it is installed. */
export const OPENSSL_MISSING: string | null = Bun.which('openssl') === null ? 'no openssl' : null

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

const openssl = (...words: readonly string[]): void => {
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...words], { stdout: 'ignore', stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(`openssl ${words[0]} failed: ${stderr.toString()}`)
}

export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

export interface CertificateFolder {
  readonly path: string
  /** Creates a self-signed authority. */
  authority(name: string): CertificateFiles
  /** @param alternativeNames for example `DNS:localhost,IP:127.0.0.1` */
  server(authority: CertificateFiles, name: string, alternativeNames: string): CertificateFiles
  remove(): void
}

export const createCertificateFolder = (): CertificateFolder => {
  const path = mkdtempSync(join(tmpdir(), 'countersign-certificates-'))
  const filesOf = (name: string): CertificateFiles => ({
    certificate: join(path, `${name}.pem`),
    key: join(path, `${name}.key`),
  })
  return {
    path,
    authority: (name) => {
      const { certificate, key } = filesOf(name)
      const self = ['-subj', `/CN=${name}`, '-addext', 'basicConstraints=critical,CA:TRUE', '-days', '2']
      openssl('req', '-x509', ...KEY, '-keyout', key, '-out', certificate, ...self)
      return { certificate, key }
    },
    server: (authority, name, alternativeNames) => {
      const { certificate, key } = filesOf(name)
      const [request, extensions] = [join(path, `${name}.csr`), join(path, `${name}.ext`)]
      writeFileSync(extensions, `subjectAltName=${alternativeNames}\n`)
      openssl('req', ...KEY, '-keyout', key, '-out', request, '-subj', `/CN=${name}`)
      const signer = ['-CA', authority.certificate, '-CAkey', authority.key, '-CAcreateserial']
      openssl('x509', '-req', '-in', request, ...signer, '-out', certificate, '-days', '2', '-extfile', extensions)
      return { certificate, key }
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}
