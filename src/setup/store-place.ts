// The data folder remembers where its store is when that is not the file inside it: a start or a command that lost the
// setting must not begin a new deployment, or go on with an old one, in that file. Without user or password.
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { writePrivateFile } from '../signing/private-file.ts'
import { describeStore, type StoreTarget } from '../store/store-address.ts'
import type { DataFolder } from './data-folder.ts'

/** For people; null where the store is the file in the folder, or none was made yet. */
export const rememberedStore = ({ storePlace }: Pick<DataFolder, 'storePlace'>): string | null =>
  existsSync(storePlace) ? readFileSync(storePlace, 'utf8').trim() : null

/** Called once the store is there and in use, or has just been filled. */
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
