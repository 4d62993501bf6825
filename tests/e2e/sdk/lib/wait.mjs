// Waiting for things to happen: never for a fixed time, always with a deadline that
// says what did not happen.

import { setTimeout as sleep } from 'node:timers/promises'

// Longer than anything takes on a busy machine.
const PATIENCE_MS = 60_000
const PAUSE_MS = 25

/** The promise's value, or an error that names what was waited for. */
export async function within(promise, what, ms = PATIENCE_MS) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Asks again until the answer is truthy. Only for what no event announces, such as an
 * SDK's reconnection; everything else is waited for as an event.
 */
export async function eventually(ask, what, ms = PATIENCE_MS) {
  const end = Date.now() + ms
  let last
  while (Date.now() < end) {
    try {
      const answer = await ask()
      if (answer) return answer
    } catch (error) {
      last = error
    }
    await sleep(PAUSE_MS)
  }
  throw new Error(`waited ${ms} ms for ${what}`, { cause: last })
}

/** Things that arrive one by one; `next` takes the first that fits. */
export class Inbox {
  #kept = []
  #waiting = []

  put(item) {
    const index = this.#waiting.findIndex(({ fits }) => fits(item))
    if (index < 0) this.#kept.push(item)
    else this.#waiting.splice(index, 1)[0].take(item)
  }

  next(fits, what, ms) {
    const index = this.#kept.findIndex(fits)
    if (index >= 0) return Promise.resolve(this.#kept.splice(index, 1)[0])
    const waiter = { fits }
    const arrival = new Promise((take) => (waiter.take = take))
    this.#waiting.push(waiter)
    return within(arrival, what, ms).finally(() => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter)
    })
  }

  /** What arrived and fits, and was never asked for. */
  left(fits) {
    return this.#kept.filter(fits)
  }
}
