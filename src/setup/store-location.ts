// Location of the store: the setting `store`, or a SQLite file in the data folder. The address may contain a password,
// so it is a secret: it is read on use and never part of a message.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { unreadableText } from '../lib/named-error.ts'
import { StoreUnusableError } from '../store/errors.ts'
import { parseStoreAddress, type StoreTarget } from '../store/store-address.ts'
import type { DataFolder } from './data-folder.ts'
import { rememberedStore } from './store-place.ts'

const readSource = async (source: NonNullable<Config['store']>): Promise<{ name: string; text: string }> => {
  if (source.source === 'environment') return { name: source.name, text: process.env[source.name] ?? '' }
  try {
    return { name: source.path, text: await readFile(source.path, 'utf8') }
  } catch (error) {
    throw new SettingInvalidError(`the file of the setting store ${unreadableText(error)}: ${source.path}`)
  }
}

/**
 * @throws SettingInvalidError that names the error without repeating the address; StoreUnusableError if the setting is
 * missing and the folder's store is elsewhere
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

/** Whether the location may hold a store. A command must not create a new deployment at a mistyped path. */
export const storeMayExist = (target: StoreTarget): boolean => target.kind === 'postgres' || existsSync(target.path)
