// Reads the listeners' certificates. Bun keeps a listener's first certificate, so only new processes use new files.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { isMissingFile, unreadableText } from '../lib/named-error.ts'
import type { ListenerTls } from '../server/listen-address.ts'

export interface TlsOfListeners {
  readonly api: ListenerTls | null
  readonly portal: ListenerTls | null
  readonly dashboard: ListenerTls | null
  readonly metrics: ListenerTls | null
}

export type TlsSettings = Pick<Config, 'tlsCertificate' | 'tlsKey'>

const readText = (setting: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingInvalidError(
      `--${setting} ${path} ${isMissingFile(error) ? 'does not exist' : unreadableText(error)}`,
    )
  }
}

const parseCertificate = (path: string, text: string): X509Certificate => {
  try {
    return new X509Certificate(text)
  } catch {
    throw new SettingInvalidError(
      `--tls-certificate ${path} is not a certificate: it must be PEM, with the server's own certificate first`,
    )
  }
}

const parseKey = (path: string, text: string): KeyObject => {
  try {
    return createPrivateKey(text)
  } catch {
    throw new SettingInvalidError(`--tls-key ${path} is not a private key: it must be PEM, without a passphrase`)
  }
}

const readPair = (listener: string, certificatePath: string, keyPath: string): ListenerTls | null => {
  if (certificatePath === '' && keyPath === '') return null
  if (certificatePath === '' || keyPath === '') {
    const [given, missing] = keyPath === '' ? ['certificate', 'key'] : ['key', 'certificate']
    throw new SettingInvalidError(`--tls-${given} is set for the ${listener} listener, but --tls-${missing} is not`)
  }
  const cert = readText('tls-certificate', certificatePath)
  const key = readText('tls-key', keyPath)
  if (!parseCertificate(certificatePath, cert).checkPrivateKey(parseKey(keyPath, key))) {
    throw new SettingInvalidError(
      `--tls-key ${keyPath} does not match the certificate in ${certificatePath}: use a key and certificate that were issued together`,
    )
  }
  return { cert, key }
}

/** @throws SettingInvalidError if a file is missing or invalid, or key and certificate don't match */
export const readListenerTls = ({ tlsCertificate, tlsKey }: TlsSettings): TlsOfListeners => ({
  api: readPair('api', tlsCertificate.api, tlsKey.api),
  portal: readPair('portal', tlsCertificate.portal, tlsKey.portal),
  dashboard: readPair('dashboard', tlsCertificate.dashboard, tlsKey.dashboard),
  metrics: readPair('metrics', tlsCertificate.metrics, tlsKey.metrics),
})
