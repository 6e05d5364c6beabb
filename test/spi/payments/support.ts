import type { PayeePorts } from '#src/spi/index.ts'

/** Nobody knows keys or codes. */
export const noPayees: PayeePorts = {
  payee: undefined,
  missing: ['DICT_URL'],
  errors: [],
  readCode: async () => {
    throw new Error('no code is read here')
  },
}
