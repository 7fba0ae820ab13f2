// `countersign doctor` on the secrets that startup reads: passphrase, keystores, evidence key and account key. A running
// node has them in memory, so a lost file would otherwise appear only at its next start.
import type { Config } from '../../config/config.ts'
import { SettingInvalidError } from '../../config/settings.ts'
import { ACCOUNT_KEY_CLAIM, prepareAccountKey } from '../../setup/account-key.ts'
import { presentAttesters, readAttesters } from '../../setup/attesters.ts'
import type { DataFolder } from '../../setup/data-folder.ts'
import { prepareOrganizationKeys } from '../../setup/evidence-key.ts'
import type { Finding } from '../../setup/finding.ts'
import { locatePassphrase } from '../../setup/passphrase.ts'
import { isFirstStart } from '../../setup/quickstart.ts'
import { SigningError } from '../../signing/errors.ts'
import { openKeyring } from '../../signing/keyring.ts'
import { readPassphrases } from '../../signing/passphrase.ts'
import { chooseSecp256k1Backend } from '../../signing/secp256k1-backends.ts'
import { isTokenKey } from '../../signing/token-key.ts'
import { EVIDENCE_KEY_CLAIM } from '../../store/organizations/organization-keys.ts'
import type { Store } from '../../store/store.ts'

const attempt = async (check: string, subject: string, step: () => Promise<string>): Promise<Finding> => {
  try {
    return { check, subject, result: 'ok', detail: await step() }
  } catch (error) {
    if (error instanceof SettingInvalidError) return { check, subject, result: 'problem', detail: error.message }
    if (error instanceof SigningError) return { check, subject, result: 'problem', detail: error.detail }
    throw error
  }
}

/** Opens each keystore, then erases the decrypted key. */
const inspectKeystores = async (config: Config, folder: DataFolder, store: Store): Promise<readonly Finding[]> => {
  const passphrases = async () => readPassphrases(locatePassphrase(config, folder, false).source)
  const passphrase = await attempt('secret', 'passphrase', async () => {
    if ((await isFirstStart(store, folder)) && config.passphrase === null) return 'created at first startup'
    await passphrases()
    return 'readable'
  })
  if (passphrase.result !== 'ok') return [passphrase]
  const findings = [passphrase]
  const attesters = presentAttesters(await readAttesters(store, folder), {
    warn: (detail, fields) => {
      findings.push({ check: 'keystore', subject: String(fields?.['keystorePath']), result: 'problem', detail })
    },
  })
  for (const attester of attesters) {
    if (attester.status !== 'active' || isTokenKey(attester.keystorePath)) continue
    const finding = await attempt('keystore', attester.keystorePath, async () => {
      const { backend } = chooseSecp256k1Backend(config.signer)
      const keyring = await openKeyring([attester], passphrases, backend)
      keyring.erase()
      return 'the passphrase decrypts the attester’s key'
    })
    findings.push(finding)
  }
  return findings
}

/** Uses the checks of startup, but creates no key. */
export const inspectKeys = async (config: Config, folder: DataFolder, store: Store): Promise<readonly Finding[]> => {
  const findings: Finding[] = []
  if ((await store.deployment.read(EVIDENCE_KEY_CLAIM)) !== null) {
    const finding = await attempt('secret', 'evidence key', async () => {
      await prepareOrganizationKeys(config, folder, store)
      return 'the key of the stored data'
    })
    findings.push(finding)
  }
  if (config.serve.has('dashboard') && (await store.deployment.read(ACCOUNT_KEY_CLAIM)) !== null) {
    const finding = await attempt('secret', 'account key', async () => {
      await prepareAccountKey(config, folder, store.deployment)
      return 'readable'
    })
    findings.push(finding)
  }
  if (config.serve.has('attestation')) findings.push(...(await inspectKeystores(config, folder, store)))
  return findings
}
