// Location of the store: the setting `store`, or SQLite in the data folder. It may contain a password, so it is never
// part of a message.
import { existsSync, readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { unreadableText } from '../lib/named-error.ts'
import { writePrivateFile } from '../signing/private-file.ts'
import { StoreUnusableError } from '../store/errors.ts'
import { describeStore, parseStoreAddress, type StoreTarget } from '../store/store-address.ts'
import type { DataFolder } from './data-folder.ts'

const readSource = async (source: NonNullable<Config['store']>): Promise<{ name: string; text: string }> => {
  if (source.source === 'environment') return { name: source.name, text: process.env[source.name] ?? '' }
  try {
    return { name: source.path, text: await readFile(source.path, 'utf8') }
  } catch (error) {
    throw new SettingInvalidError(`the file for the store setting ${unreadableText(error)}: ${source.path}`)
  }
}

/** Returns the location for display; null if the store is in the folder or doesn't exist yet. */
export const rememberedStore = ({ storePlace }: Pick<DataFolder, 'storePlace'>): string | null =>
  existsSync(storePlace) ? readFileSync(storePlace, 'utf8').trim() : null

/**
 * Records the store's location, without user and password, so that a start without the `store` setting fails instead of
 * opening the folder's database file. Call when the store is in use or filled.
 */
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

/** @throws SettingInvalidError; StoreUnusableError if the setting is missing and the folder's store is elsewhere */
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

/** A command must not create a new deployment at a mistyped path. */
export const storeMayExist = (target: StoreTarget): boolean => target.kind === 'postgres' || existsSync(target.path)
