// Camera of the three-dimensional view: it turns about a point, z is up.
"use strict";

report.Camera = class {
  // Looks at `center`, so that a ball of that radius fills the view.
  constructor(center, radius) {
    this.center = center;
    this.radius = radius;
    this.reset();
  }

  reset() {
    [this.yaw, this.pitch, this.zoom] = [0.6, 0.35, 1];
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.min(1.55, Math.max(-1.55, this.pitch + pitch));
  }

  scale(factor) {
    this.zoom = Math.min(40, Math.max(0.2, this.zoom * factor));
  }

  // Column-major matrix from the simulation's coordinates to clip space.
  matrix(aspect) {
    const tangent = Math.tan(0.3);
    const narrow = Math.min(1, aspect);
    const distance = (1.08 * this.radius) / (Math.sin(0.3) * narrow * this.zoom);
    const [cosYaw, sinYaw, cosPitch, sinPitch] = [
      Math.cos(this.yaw),
      Math.sin(this.yaw),
      Math.cos(this.pitch),
      Math.sin(this.pitch),
    ];
    // rows: right, up, and back, away from what is seen
    const right = [-sinYaw, cosYaw, 0];
    const up = [-sinPitch * cosYaw, -sinPitch * sinYaw, cosPitch];
    const back = [cosPitch * cosYaw, cosPitch * sinYaw, sinPitch];
    const along = (row) => -(row[0] * this.center[0] + row[1] * this.center[1] + row[2] * this.center[2]);
    const near = Math.max(distance - 3 * this.radius, distance * 0.02),
      far = distance + 6 * this.radius;
    const [sx, sy] = [1 / (tangent * aspect), 1 / tangent];
    const [a, b] = [-(far + near) / (far - near), (-2 * far * near) / (far - near)];
    const matrix = new Float32Array(16);
    for (let k = 0; k < 3; k++) {
      matrix[4 * k] = sx * right[k];
      matrix[4 * k + 1] = sy * up[k];
      matrix[4 * k + 2] = a * back[k];
      matrix[4 * k + 3] = -back[k];
    }
    const depth = along(back) - distance;
    matrix[12] = sx * along(right);
    matrix[13] = sy * along(up);
    matrix[14] = a * depth + b;
    matrix[15] = -depth;
    return matrix;
  }

  // Fraction of the view's width and height of a point; null behind the camera.
  project(matrix, [x, y, z]) {
    const row = (k) => matrix[k] * x + matrix[4 + k] * y + matrix[8 + k] * z + matrix[12 + k];
    const w = row(3);
    return w <= 0 ? null : [0.5 + (0.5 * row(0)) / w, 0.5 - (0.5 * row(1)) / w];
  }

  get state() {
    return { yaw: this.yaw, pitch: this.pitch, zoom: this.zoom };
  }

  set state({ yaw, pitch, zoom }) {
    [this.yaw, this.pitch, this.zoom] = [yaw, pitch, zoom];
  }
};
