import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { Replay } from './replay.tsx'
import { Shadow, setShadow } from './shadow.tsx'
import { Trial } from './trial.tsx'

export const PARTS: ModuleParts = { policyLab: { Trial, Shadow, Replay, setShadow } }
