// Screens after the consent, in one bundle that is loaded while the person reads the consent.
import { Details } from './details.tsx'
import { Documents } from './documents.tsx'
import { Elsewhere } from './elsewhere.tsx'
import { Outcome } from './outcome.tsx'
import { Review } from './review.tsx'
import { Wallets } from './wallets.tsx'

export const LATER_SCREENS = { Wallets, Details, Documents, Review, Outcome, Elsewhere }
