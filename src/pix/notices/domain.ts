/** What endpoints of the standard are told of: Pix of a key, recurrences or recurring charges of an account. */
export type Told = 'pix' | 'rec' | 'cobr'

/** The first step says whose interface it is, the second what is told, and after which path. */
const prefixOf = (told: Told): string => `api-pix/${told}/`

/** @param whose a key, or for what is not of a key the account */
export const topicOf = (told: Told, whose: string): string => prefixOf(told) + whose

/** The beginning of all topics of endpoints of keys. */
export const keysPrefix = prefixOf('pix')

export const keyOf = (topic: string): string => topic.slice(keysPrefix.length)
