// Records in the data folder the location of a store outside it, without user and password. Without the record, a start
// or command that lacks the setting would use the wrong store: the file in the folder.
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { writePrivateFile } from '../signing/private-file.ts'
import { describeStore, type StoreTarget } from '../store/store-address.ts'
import type { DataFolder } from './data-folder.ts'

/** Returns the location as display text. Null if the store is the file in the folder or doesn't exist yet. */
export const rememberedStore = ({ storePlace }: Pick<DataFolder, 'storePlace'>): string | null =>
  existsSync(storePlace) ? readFileSync(storePlace, 'utf8').trim() : null

/** Call once the store is in use or has just been filled. */
export const rememberStore = async (
  folder: Pick<DataFolder, 'storePlace' | 'database'>,
  target: StoreTarget,
): Promise<void> => {
  if (target.kind === 'sqlite' && target.path === folder.database) {
    await rm(folder.storePlace, { force: true })
    return
  }
  const place = describeStore(target)
  if (rememberedStore(folder) !== place) await writePrivateFile(folder.storePlace, `${place}\n`)
}
