import { randomBytes } from 'node:crypto'

/** More random bits than an address must have (122): nobody finds what is somebody else's. A txid takes as many. */
const bytes = 16

/** The secret end of an address, or a txid of ours. */
export const randomHex = (): string => randomBytes(bytes).toString('hex')
