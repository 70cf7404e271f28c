import { useSyncExternalStore } from "react";

/** A value that views follow. */
export class Cell<T extends object> {
  #value: T;
  #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get(): T {
    return this.#value;
  }

  set(patch: Partial<T>): void {
    this.#value = { ...this.#value, ...patch };
    this.#listeners.forEach((listener) => listener());
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Follows a part of a cell. The part keeps its identity while it does not change. */
export function useCell<T extends object, P>(cell: Cell<T>, part: (value: T) => P): P {
  return useSyncExternalStore(cell.subscribe, () => part(cell.get()));
}
