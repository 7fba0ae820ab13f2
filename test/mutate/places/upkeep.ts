// Backups, restores, moves to another database, shipping, exports.
import { type Place, placesOf } from '../place.ts'

const BACKUP = ['test/long/cli/backup.test.ts']
const SERIES = ['test/cli/backup-series.test.ts']

export const upkeep: readonly Place[] = [
  ...placesOf(BACKUP, 'src/cli/backup/backup.ts', [
    [
      'a half-written last line goes into the backup',
      'await copy(path, `decisions/${slot}/${name}`, recordedLength(path))',
      'await copy(path, `decisions/${slot}/${name}`)',
    ],
    ['secrets are always in it', 'if (choice.withSecrets) {', 'if (choice.withSecrets || choice.withDecisions) {'],
    ['a failed backup leaves its half', '    await rm(partial, { recursive: true, force: true })\n', ''],
    [
      'a folder that is there is written over',
      'if (existsSync(to)) throw new CommandFailedError(`${to} is there already: choose a new folder`)',
      '',
    ],
  ]),
  ...placesOf(SERIES, 'src/cli/backup/backup-series.ts', [
    [
      'backups of another deployment are removed',
      'kept.manifest.deploymentId === manifest.deploymentId)',
      "kept.manifest.deploymentId !== '')",
    ],
    ['a failed backup is not tried again soon', 'Math.min(everyMs, RETRY_MS)', 'everyMs'],
    ['each start makes a backup', 'return newestMs <= nowMs ? newestMs + everyMs : nowMs', 'return nowMs'],
    ['what is half made by another is swept', 'now().getTime() - DAY_MS', 'now().getTime() + DAY_MS'],
  ]),
  ...placesOf(BACKUP, 'src/cli/backup/restore.ts', [
    [
      'a data folder that is in use is written over',
      'if (existsSync(root) && readdirSync(root).some((name) => name !== OF_THE_SYSTEM)) {',
      'if (root === OF_THE_SYSTEM) {',
    ],
    [
      'a failed restore leaves its half',
      '    await rm(partial, { recursive: true, force: true })\n    throw error',
      '    throw error',
    ],
  ]),
  ...placesOf(BACKUP, 'src/cli/backup/file-copy.ts', [
    [
      'a copy is readable by everyone',
      "open(to, 'wx', 0o600)\n    try {\n      const hash",
      "open(to, 'wx', 0o644)\n    try {\n      const hash",
    ],
  ]),
  ...placesOf(['test/long/cli/migrate.test.ts'], 'src/cli/backup/migrate.ts', [
    ['a store in use is moved', 'if (users.length > 0) {', 'if (users.length < 0) {'],
    ['a moved store is used again', '      await markMoved(from, target)\n', ''],
    [
      'the folder does not remember where its store is',
      '      await rememberInFolders(dataDirectory, source, target)\n',
      '',
    ],
  ]),
  ...placesOf(['test/log-shipping/ship.test.ts'], 'src/modules/log-shipping/ship.ts', [
    [
      'what the target holds is not compared',
      'if (!(await target.isIntact(name, digest)))\n      throw',
      'if (digest.bytes < 0)\n      throw',
    ],
    [
      'a segment without its digest counts as shipped',
      'if (whole && digest) done.add(key)',
      'if (whole) done.add(key)',
    ],
    ['after a failure nothing is learnt anew', 'if (failures > 0) isKnown = false', ''],
    [
      'pieces are removed before the segment is whole',
      'if (!(await target.isIntact(object, digest))) await put(object, content, digest)',
      '',
    ],
  ]),
  ...placesOf(['test/workers/decision-export.test.ts'], 'src/lib/csv.ts', [
    ['a line break in a cell begins a row', '/[",\\r\\n]/.test(safe)', '/[",]/.test(safe)'],
    ['a formula is run by a spreadsheet', "typeof value === 'string' ? escapeFormula(plain)", "plain === '=' ? ''"],
  ]),
  ...placesOf(['test/dashboard/page-parts.test.ts'], 'src/dashboard/page/decisions/row-counter.ts', [
    ['a line break in a cell counts as a row', "(format === 'ndjson' || !quoted)", '!Number.isNaN(Number(quoted))'],
  ]),
  ...placesOf(['test/dashboard/page-parts.test.ts'], 'src/dashboard/page/reviews/next-session.ts', [
    ['somebody else\u2019s session comes next', '(to === null || to === ownId)', 'to !== ownId + presentId'],
    [
      'the queue begins anew after each decision',
      'waiting.find(({ id }) => id > presentId) ?? waiting[0]',
      'waiting[0]',
    ],
    ['the session that was decided comes next', 'id !== presentId && (to', '(to'],
  ]),
]
