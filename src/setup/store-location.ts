// Where the store is: what the setting `store` says, or a SQLite file in the data folder. The address may hold a
// password, so it is treated as a secret: read where it is used, and never part of a message.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { StoreUnusableError } from '../store/errors.ts'
import { parseStoreAddress, type StoreTarget } from '../store/store-address.ts'
import type { DataFolder } from './data-folder.ts'
import { rememberedStore } from './store-place.ts'

const readSource = async (source: NonNullable<Config['store']>): Promise<{ name: string; text: string }> => {
  if (source.source === 'environment') return { name: source.name, text: process.env[source.name] ?? '' }
  try {
    return { name: source.path, text: await readFile(source.path, 'utf8') }
  } catch {
    throw new SettingInvalidError(`the file of the setting store can't be read: ${source.path}`)
  }
}

/**
 * @throws SettingInvalidError that says what is wrong and repeats nothing of the address; StoreUnusableError when there is no
 * setting and the folder's store is elsewhere.
 */
export const locateStore = async (config: Pick<Config, 'store'>, folder: DataFolder): Promise<StoreTarget> => {
  if (config.store === null) {
    const place = rememberedStore(folder)
    if (place !== null) {
      throw new StoreUnusableError(
        `the store of ${folder.root} is ${place}: set COUNTERSIGN_STORE or COUNTERSIGN_STORE_FILE to its address`,
      )
    }
    return { kind: 'sqlite', path: folder.database }
  }
  const { name, text } = await readSource(config.store)
  try {
    const target = parseStoreAddress(text.trim())
    return target.kind === 'sqlite' ? { kind: 'sqlite', path: resolve(target.path) } : target
  } catch (error) {
    throw new SettingInvalidError(`the address in ${name} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

/** Whether a start has been made there: a command must not make a new deployment of a mistyped path. */
export const storeMayExist = (target: StoreTarget): boolean => target.kind === 'postgres' || existsSync(target.path)
