// Name of the user that runs a command, from the process's user id. The variable USER, which userInfo() of the runtime
// trusts, can be set by anyone.
import { readFileSync } from 'node:fs'

/** Reads `name:password:uid:…` (passwd(5)). @returns null if the user isn't listed */
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
    // Some container images have no /etc/passwd; the user id is then shown.
    return ''
  }
}

/** Runs id(1), which also finds users of directory services such as LDAP. */
const nameFromDirectory = (): string | null => {
  try {
    const { exitCode, stdout } = Bun.spawnSync(['/usr/bin/id', '-un'], { stdin: 'ignore', stderr: 'ignore', env: {} })
    const name = stdout.toString().trim()
    return exitCode === 0 && name !== '' ? name : null
  } catch {
    // id(1) isn't installed.
    return null
  }
}

interface UserSources {
  readonly uid: number | undefined
  readonly passwd: () => string
  readonly directory: () => string | null
}

/** @returns the user's name; `uid 1000` if there is none */
export const operatingUser = (
  sources: UserSources = { uid: process.getuid?.(), passwd: readPasswd, directory: nameFromDirectory },
): string => {
  const { uid, passwd, directory } = sources
  if (uid === undefined) return 'unknown'
  return nameInPasswd(passwd(), uid) ?? directory() ?? `uid ${uid}`
}
