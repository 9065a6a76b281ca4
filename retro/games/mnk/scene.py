"""m,n,k-games as they look: crosses and rings on a grid."""

from retro.games.grid_scene import palette, scene, set_up

__all__ = ["palette", "scene", "set_up"]
