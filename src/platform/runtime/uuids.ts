/**
 * A UUIDv7 of a moment. Without a moment, Bun's own never goes back: if a clock ran ahead and is put right, its ids
 * stay ahead for as long as the process lives, where nobody looks for them.
 */
export const newUuid = (at: Date = new Date()): string => Bun.randomUUIDv7('hex', at)

/** The moment a UUIDv7 was made, to the millisecond: its first 48 bits. */
export const uuidMoment = (id: string): Date =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
