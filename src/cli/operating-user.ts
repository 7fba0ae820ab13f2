// Who runs a command: the name of the process's user id. Not the variable USER, which anyone can set and which the runtime's
// userInfo() trusts.
import { readFileSync } from 'node:fs'

/** Reads `name:password:uid:…` (passwd(5)). @returns null when the user is not in it */
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
    // Some container images have no /etc/passwd; then the user id is shown.
    return ''
  }
}

/** Asks getent, which also knows users of LDAP and the like. */
const nameFromDirectory = (): string | null => {
  try {
    const { exitCode, stdout } = Bun.spawnSync(['/usr/bin/id', '-un'], { stdin: 'ignore', stderr: 'ignore', env: {} })
    const name = stdout.toString().trim()
    return exitCode === 0 && name !== '' ? name : null
  } catch {
    // getent is not installed.
    return null
  }
}

export interface UserSources {
  readonly uid: number | undefined
  readonly passwd: () => string
  readonly directory: () => string | null
}

/** @returns the user's name, or `uid 1000` when it has none */
export const operatingUser = (
  sources: UserSources = { uid: process.getuid?.(), passwd: readPasswd, directory: nameFromDirectory },
): string => {
  const { uid, passwd, directory } = sources
  if (uid === undefined) return 'unknown'
  return nameInPasswd(passwd(), uid) ?? directory() ?? `uid ${uid}`
}
