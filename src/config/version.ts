// Version for code that must not read package.json.
import { version } from '../../package.json'

export const VERSION: string = version
