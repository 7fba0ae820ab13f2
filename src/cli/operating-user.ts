// Who runs a command, as the operating system knows it: the name that belongs to the process's user id. Never the variable
// USER, which anyone sets, and which the runtime's own userInfo() believes.
import { readFileSync } from 'node:fs'

/** `name:password:uid:…`, passwd(5). Null where the file is not there or does not have the user. */
const nameInPasswd = (text: string, uid: number): string | null => {
  for (const line of text.split('\n')) {
    const [name = '', , id] = line.split(':')
    if (id === String(uid) && name !== '') return name
  }
  return null
}

const readPasswd = (): string => {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    // Not every image has one; the number says it as well.
    return ''
  }
}

/** Asks the system's directories (LDAP and the like), which the file does not hold. */
const nameFromDirectory = (): string | null => {
  try {
    const { exitCode, stdout } = Bun.spawnSync(['/usr/bin/id', '-un'], { stdin: 'ignore', stderr: 'ignore', env: {} })
    const name = stdout.toString().trim()
    return exitCode === 0 && name !== '' ? name : null
  } catch {
    // There is no such program.
    return null
  }
}

export interface UserSources {
  readonly uid: number | undefined
  readonly passwd: () => string
  readonly directory: () => string | null
}

/** `uid 1000` where the number has no name. */
export const operatingUser = (
  sources: UserSources = { uid: process.getuid?.(), passwd: readPasswd, directory: nameFromDirectory },
): string => {
  const { uid, passwd, directory } = sources
  if (uid === undefined) return 'unknown'
  return nameInPasswd(passwd(), uid) ?? directory() ?? `uid ${uid}`
}
