export { type Account, cidOf, type DirectoryEntry, type HmacSha256, type KeyType } from './cid.ts'
export { createVsync, emptyVsync, type Vsync } from './vsync.ts'
