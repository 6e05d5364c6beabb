/** What a request waits for others for is told, so that a slow network does not look like too much work here. */
import { expect, test } from 'bun:test'
import { createCardsRig } from '../../support/cards-rig.ts'

test('the vault, the security module and the network are waited for away from our own hands', async () => {
  let waits = 0
  let inside = 0
  await using rig = await createCardsRig({
    away: async (wait) => {
      waits++
      inside++
      try {
        return await wait
      } finally {
        inside--
      }
    },
  })
  const { id } = await rig.authorize('tok_visa_approved')
  expect({ waits, inside }).toEqual({ waits: 3, inside: 0 })
  const captured = await rig.post(`/v1/transactions/${id}/capture`)
  expect(captured.status).toBe(200)
  // No PIN, so no security module.
  expect({ waits, inside }).toEqual({ waits: 5, inside: 0 })
})
