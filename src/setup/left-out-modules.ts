// Records the modules left out at the last startup, because commands may lack that setting.
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Config } from '../config/config.ts'
import { writePrivateFile } from '../signing/private-file.ts'
import type { DataFolder } from './data-folder.ts'

type Place = Pick<DataFolder, 'leftOutModules'>

const remembered = ({ leftOutModules }: Place): readonly string[] =>
  existsSync(leftOutModules) ? readFileSync(leftOutModules, 'utf8').trim().split('\n') : []

/** Call at each startup. @param names empty if all modules run */
export const rememberLeftOut = async (folder: Place, names: readonly string[]): Promise<void> => {
  if (names.length === 0) await rm(folder.leftOutModules, { force: true })
  else if (remembered(folder).join() !== names.join())
    await writePrivateFile(folder.leftOutModules, `${names.join('\n')}\n`)
}

/** Returns a command's settings without the modules left out at the last startup. */
export const asStarted = (config: Config, folder: Place): Config => {
  const leftOut = remembered(folder)
  return { ...config, modules: new Set([...config.modules].filter((name) => !leftOut.includes(name))) }
}
