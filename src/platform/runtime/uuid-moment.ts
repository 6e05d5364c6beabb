/** The moment a UUIDv7 was made, to the millisecond: its first 48 bits. */
export const uuidMoment = (id: string): Date =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
