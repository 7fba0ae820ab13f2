import { durationText } from '../../../lib/time.ts'
import type { Inspection } from '../../../module-interface/module.ts'
import { PROGRAM } from '../../../program/labels.ts'
import type { Finding } from '../../../setup/finding.ts'

const BACKUP_OLD_SECONDS = 2 * 86_400

export const inspectBackups = async ({ store, clock }: Inspection): Promise<readonly Finding[]> => {
  const { items } = await store.audit.page({ action: 'command.backup' }, { after: null, limit: 1 })
  const [newest] = items
  const command = `${PROGRAM} backup --into FOLDER --every 24h --keep 14`
  const age = newest === undefined ? null : clock.unixSeconds() - newest.atSeconds
  if (age !== null && age <= BACKUP_OLD_SECONDS) {
    return [
      { check: 'backup', subject: 'backup', result: 'ok', detail: `the newest backup is ${durationText(age)} old` },
    ]
  }
  const found = age === null ? 'no backup exists' : `the newest backup is ${durationText(age)} old`
  return [{ check: 'backup', subject: 'backup', result: 'note', detail: `${found}: ${command}` }]
}
